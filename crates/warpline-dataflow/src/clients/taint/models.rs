//! What well-known functions of C's library do with their arguments. Nothing of what they are given is kept.

use super::spec::{Spot, spot};

/// By name, sorted: which data flows where. `*1>*0`: from the memory behind argument 1 to that behind argument 0;
/// `0=ret`: the result leads to where argument 0 leads.
const MODELS: &[(&str, &str)] = &[
    ("__ctype_b_loc", ""),
    ("__ctype_tolower_loc", ""),
    ("__ctype_toupper_loc", ""),
    ("__errno_location", ""),
    ("__fprintf_chk", ""),
    ("__isoc23_fscanf", ""),
    ("__isoc23_scanf", ""),
    ("__isoc23_sscanf", "*0>*2+"),
    ("__isoc23_strtol", "*0>ret 0>*1"),
    ("__isoc23_strtoll", "*0>ret 0>*1"),
    ("__isoc23_strtoul", "*0>ret 0>*1"),
    ("__isoc23_strtoull", "*0>ret 0>*1"),
    ("__isoc99_fscanf", ""),
    ("__isoc99_scanf", ""),
    ("__isoc99_sscanf", "*0>*2+"),
    ("__memcpy_chk", "*1>*0 0=ret"),
    ("__printf_chk", ""),
    ("__snprintf_chk", "*4>*0 5+>*0 *5+>*0"),
    ("__sprintf_chk", "*3>*0 4+>*0 *4+>*0"),
    ("__strcat_chk", "*1>*0 0=ret"),
    ("__strcpy_chk", "*1>*0 0=ret"),
    ("abort", ""),
    ("abs", "0>ret"),
    ("accept", ""),
    ("access", ""),
    ("atof", "*0>ret"),
    ("atoi", "*0>ret"),
    ("atol", "*0>ret"),
    ("atoll", "*0>ret"),
    ("bind", ""),
    ("calloc", ""),
    ("chdir", ""),
    ("close", ""),
    ("closedir", ""),
    ("connect", ""),
    ("dprintf", ""),
    ("execl", ""),
    ("execlp", ""),
    ("execv", ""),
    ("execve", ""),
    ("execvp", ""),
    ("exit", ""),
    ("fclose", ""),
    ("feof", ""),
    ("ferror", ""),
    ("fflush", ""),
    ("fgetc", ""),
    ("fgets", "0=ret"),
    ("fopen", ""),
    ("fork", ""),
    ("fprintf", ""),
    ("fputc", ""),
    ("fputs", ""),
    ("fread", ""),
    ("free", ""),
    ("fscanf", ""),
    ("fseek", ""),
    ("fstat", ""),
    ("ftell", ""),
    ("fwrite", ""),
    ("getc", ""),
    ("getchar", ""),
    ("getcwd", "0=ret"),
    ("getenv", ""),
    ("getline", ""),
    ("getpid", ""),
    ("gets", "0=ret"),
    ("isalnum", "0>ret"),
    ("isalpha", "0>ret"),
    ("isatty", ""),
    ("isdigit", "0>ret"),
    ("isspace", "0>ret"),
    ("listen", ""),
    ("lseek", ""),
    ("malloc", ""),
    ("memchr", "0=ret"),
    ("memcmp", "*0>ret *1>ret"),
    ("memcpy", "*1>*0 0=ret"),
    ("memmove", "*1>*0 0=ret"),
    ("mempcpy", "*1>*0 0=ret"),
    ("memset", "1>*0 0=ret"),
    ("mkdir", ""),
    ("open", ""),
    ("opendir", ""),
    ("pclose", ""),
    ("perror", ""),
    ("popen", ""),
    ("pread", ""),
    ("printf", ""),
    ("putc", ""),
    ("putchar", ""),
    ("puts", ""),
    ("rand", ""),
    ("read", ""),
    ("readlink", "*0>*1"),
    ("realloc", "0=ret"),
    ("recv", ""),
    ("recvfrom", ""),
    ("remove", ""),
    ("rewind", ""),
    ("scanf", ""),
    ("send", ""),
    ("sleep", ""),
    ("snprintf", "*2>*0 3+>*0 *3+>*0"),
    ("socket", ""),
    ("sprintf", "*1>*0 2+>*0 *2+>*0"),
    ("srand", ""),
    ("sscanf", "*0>*2+"),
    ("stat", ""),
    ("stpcpy", "*1>*0 0=ret"),
    ("strcasecmp", "*0>ret *1>ret"),
    ("strcat", "*1>*0 0=ret"),
    ("strchr", "0=ret"),
    ("strcmp", "*0>ret *1>ret"),
    ("strcpy", "*1>*0 0=ret"),
    ("strcspn", "*0>ret *1>ret"),
    ("strdup", "*0>*ret"),
    ("strerror", ""),
    ("strlen", "*0>ret"),
    ("strncasecmp", "*0>ret *1>ret"),
    ("strncat", "*1>*0 0=ret"),
    ("strncmp", "*0>ret *1>ret"),
    ("strncpy", "*1>*0 0=ret"),
    ("strndup", "*0>*ret"),
    ("strnlen", "*0>ret"),
    ("strpbrk", "0=ret"),
    ("strrchr", "0=ret"),
    ("strspn", "*0>ret *1>ret"),
    ("strstr", "0=ret"),
    ("strtod", "*0>ret 0>*1"),
    ("strtol", "*0>ret 0>*1"),
    ("strtoll", "*0>ret 0>*1"),
    ("strtoul", "*0>ret 0>*1"),
    ("strtoull", "*0>ret 0>*1"),
    ("syslog", ""),
    ("system", ""),
    ("time", ""),
    ("tolower", "0>ret"),
    ("toupper", "0>ret"),
    ("unlink", ""),
    ("usleep", ""),
    ("write", ""),
];

/// One flow at a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ModelFlow {
    /// Where from.
    pub from: Spot,
    /// Where to.
    pub to: Spot,
}

/// What a function does, if it is known: its flows.
pub(super) fn model(name: &str) -> Option<Vec<ModelFlow>> {
    let found = MODELS.binary_search_by(|(n, _)| n.cmp(&name)).ok()?;
    Some(MODELS[found].1.split_whitespace().filter_map(flow).collect())
}

fn flow(text: &str) -> Option<ModelFlow> {
    let (from, to) = text.split_once(['>', '='])?;
    Some(ModelFlow { from: spot(from)?, to: spot(to)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_can_be_read() {
        assert!(MODELS.is_sorted_by(|a, b| a.0 < b.0));
        for (name, text) in MODELS {
            let flows = model(name).unwrap_or_default();
            assert_eq!(flows.len(), text.split_whitespace().count(), "{name}");
        }
    }
}
