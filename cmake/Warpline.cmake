# Kernels for one lane, compiled for many lanes and several CPUs.
#
#   include(path/to/Warpline.cmake)
#   warpline_kernels(TARGET
#       SOURCES file.c ...        # .c, .cpp, .cl, .rs, .ll or .bc, with one kernel each, or:
#       [FUNCTIONS name ...]      # the kernels of one source
#       [CPUS x86-64-v3 ...]      # LLVM's names; the best that the machine has is chosen at run time.
#                                 # One CPU: code for this one only. Default: x86-64-v3 and x86-64-v4, elsewhere generic
#       [OPTIONS ...])            # more options of `warpline vectorize`, such as --width 8
#
# For each kernel NAME the target gets a function NAME_range(begin, end, ...) and a header that declares it, called like the
# source or, with FUNCTIONS, like the kernel: `#include "file.warpline.h"`. Of several CPUs, NAME_cpu() says which one's code runs.
# Variables of a source that can change are others in this code than in the source compiled as usual: pass pointers.
#
# The program is $WARPLINE_EXECUTABLE, or `warpline` on the path; beside its sources, cargo builds it. C needs a clang on the path or in
# the environment variable CLANG.

include_guard(GLOBAL)
cmake_minimum_required(VERSION 3.20)

find_program(WARPLINE_EXECUTABLE warpline DOC "The program warpline")

# What to run for warpline.
function(_warpline_command result)
    if(WARPLINE_EXECUTABLE)
        set(${result} "${WARPLINE_EXECUTABLE}" PARENT_SCOPE)
        return()
    endif()
    set(manifest "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../Cargo.toml")
    find_program(WARPLINE_CARGO cargo DOC "cargo, which builds warpline")
    if(NOT WARPLINE_CARGO OR NOT EXISTS "${manifest}")
        message(FATAL_ERROR "There is no program `warpline`: install it (cargo install warpline-cli), or set WARPLINE_EXECUTABLE")
    endif()
    set(${result} "${WARPLINE_CARGO}" run --quiet --release --manifest-path "${manifest}" --package warpline-cli -- PARENT_SCOPE)
endfunction()

# Adds the object and the header of one kernel.
function(_warpline_kernel target source name cpus)
    _warpline_command(warpline)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/warpline/${target}")
    file(MAKE_DIRECTORY "${folder}")
    set(object "${folder}/${name}.warpline.o")
    set(header "${folder}/${name}.warpline.h")
    get_filename_component(source "${source}" ABSOLUTE)
    add_custom_command(
        OUTPUT "${object}" "${header}"
        COMMAND ${warpline} vectorize "${source}" --cpu "${cpus}" ${ARGN} -o "${object}" --header "${header}"
        DEPENDS "${source}"
        COMMENT "Vectorizing ${name}"
        VERBATIM)
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    target_sources("${target}" PRIVATE "${object}" "${header}")
    target_include_directories("${target}" PRIVATE "${folder}")
endfunction()

function(warpline_kernels target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;FUNCTIONS;CPUS;OPTIONS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "warpline_kernels: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_SOURCES)
        message(FATAL_ERROR "warpline_kernels: no SOURCES")
    endif()
    if(NOT arg_CPUS)
        if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
            set(arg_CPUS x86-64-v3 x86-64-v4)
        else()
            set(arg_CPUS generic)
        endif()
    endif()
    list(JOIN arg_CPUS "," cpus)
    if(arg_FUNCTIONS)
        list(LENGTH arg_SOURCES count)
        if(NOT count EQUAL 1)
            message(FATAL_ERROR "warpline_kernels: FUNCTIONS are those of one source")
        endif()
        foreach(function IN LISTS arg_FUNCTIONS)
            _warpline_kernel("${target}" "${arg_SOURCES}" "${function}" "${cpus}" --function "${function}" ${arg_OPTIONS})
        endforeach()
    else()
        foreach(source IN LISTS arg_SOURCES)
            get_filename_component(name "${source}" NAME_WE)
            _warpline_kernel("${target}" "${source}" "${name}" "${cpus}" ${arg_OPTIONS})
        endforeach()
    endif()
    # Mathematical functions: the scalar ones, and glibc's vector library where there is one and it is used.
    find_library(WARPLINE_MVEC mvec DOC "glibc's vector mathematics library")
    mark_as_advanced(WARPLINE_MVEC)
    if(WARPLINE_MVEC)
        target_link_libraries("${target}" PRIVATE -Wl,--push-state,--as-needed mvec -Wl,--pop-state)
    endif()
    if(UNIX)
        target_link_libraries("${target}" PRIVATE m)
    endif()
endfunction()
