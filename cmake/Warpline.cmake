# Kernels for one lane, compiled for many lanes and several CPUs.
#
#   find_package(Warpline REQUIRED)         # installed by `cmake -S cmake -B build && cmake --install build`, or
#   include(path/to/Warpline.cmake)
#   warpline_kernels(TARGET
#       SOURCES file.c ...        # .c, .cpp, .cl, .rs, .ll or .bc: all kernels that have directives in them, or
#       [FUNCTIONS name ...]      # these, by name or pattern (`*`, `?`)
#       [CPUS x86-64-v3 ...]      # LLVM's names; the best that the machine has is chosen at run time.
#                                 # One CPU: code for this one only. Default: x86-64-v3 and x86-64-v4, elsewhere generic
#       [WITHOUT_TARGET_OPTIONS]  # for targets with options that clang does not have, or only for some languages
#       [OPTIONS ...])            # more options of `warpline vectorize`, such as --width 8
#
# C, C++ and OpenCL C are compiled with TARGET's include folders, definitions, options and standard, and again when a header
# has changed. For each kernel NAME the target gets a function NAME_range(begin, end, ...), and for each source a header that
# declares these: `#include "file.warpline.h"`. Of several CPUs, NAME_cpu() says which one's code runs.
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

# The flags by which a target compiles a source, as words for clang; none for what clang does not compile.
function(_warpline_flags result target source options)
    set(${result} "" PARENT_SCOPE)
    if(source MATCHES "\\.(cc|cpp|cxx)$")
        set(standard "$<TARGET_PROPERTY:${target},CXX_STANDARD>")
        set(flag "-std=gnu++${standard}")
    elseif(source MATCHES "\\.c$")
        set(standard "$<TARGET_PROPERTY:${target},C_STANDARD>")
        set(flag "-std=gnu${standard}")
    elseif(source MATCHES "\\.cl$")
        set(standard "")
        set(flag "")
    else()
        return()
    endif()
    set(folders "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
    set(flags "--"
        "$<$<BOOL:${standard}>:${flag}>"
        "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>"
        "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>")
    if(options)
        list(APPEND flags "$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>")
    endif()
    set(${result} "${flags}" PARENT_SCOPE)
endfunction()

# Adds the object and the header of one source.
function(_warpline_source target source cpus options)
    _warpline_command(warpline)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/warpline/${target}")
    file(MAKE_DIRECTORY "${folder}")
    get_filename_component(name "${source}" NAME_WE)
    set(object "${folder}/${name}.warpline.o")
    set(header "${folder}/${name}.warpline.h")
    get_filename_component(source "${source}" ABSOLUTE)
    _warpline_flags(flags "${target}" "${source}" "${options}")
    add_custom_command(
        OUTPUT "${object}" "${header}"
        COMMAND ${warpline} vectorize "${source}" --cpu "${cpus}" ${ARGN} -o "${object}" --header "${header}"
                -MD -MF "${object}.d" -MT "${object}" "${flags}"
        DEPENDS "${source}"
        DEPFILE "${object}.d"
        COMMENT "Vectorizing ${name}"
        COMMAND_EXPAND_LISTS
        VERBATIM)
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    target_sources("${target}" PRIVATE "${object}" "${header}")
    target_include_directories("${target}" PRIVATE "${folder}")
endfunction()

# What warpline says of a program that uses it, once: the folder of warpline.h, and libraries of mathematics, of which those
# that are not needed stay away.
function(_warpline_usage target)
    if(NOT DEFINED WARPLINE_LIBRARIES)
        _warpline_command(warpline)
        set(target_triple "")
        if(CMAKE_CROSSCOMPILING)
            set(target_triple --triple "${CMAKE_SYSTEM_PROCESSOR}-unknown-${CMAKE_SYSTEM_NAME}")
        endif()
        execute_process(COMMAND ${warpline} --print libs ${target_triple} OUTPUT_VARIABLE libraries RESULT_VARIABLE failed
            OUTPUT_STRIP_TRAILING_WHITESPACE)
        execute_process(COMMAND ${warpline} --print include-dir OUTPUT_VARIABLE folder RESULT_VARIABLE failed_too
            OUTPUT_STRIP_TRAILING_WHITESPACE)
        if(failed OR failed_too)
            message(FATAL_ERROR "warpline --print failed: see above")
        endif()
        separate_arguments(libraries UNIX_COMMAND "${libraries}")
        set(WARPLINE_LIBRARIES "${libraries}" CACHE STRING "What programs with vector mathematics are linked with")
        set(WARPLINE_INCLUDE_DIR "${folder}" CACHE PATH "The folder of warpline.h")
        mark_as_advanced(WARPLINE_LIBRARIES WARPLINE_INCLUDE_DIR)
    endif()
    target_link_libraries("${target}" PRIVATE ${WARPLINE_LIBRARIES})
    if(UNIX)
        target_link_libraries("${target}" PRIVATE m)
    endif()
    target_include_directories("${target}" PRIVATE "${WARPLINE_INCLUDE_DIR}")
endfunction()

function(warpline_kernels target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "WITHOUT_TARGET_OPTIONS" "" "SOURCES;FUNCTIONS;CPUS;OPTIONS")
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
    set(functions "")
    foreach(function IN LISTS arg_FUNCTIONS)
        list(APPEND functions --function "${function}")
    endforeach()
    set(options TRUE)
    if(arg_WITHOUT_TARGET_OPTIONS)
        set(options FALSE)
    endif()
    foreach(source IN LISTS arg_SOURCES)
        _warpline_source("${target}" "${source}" "${cpus}" "${options}" ${functions} ${arg_OPTIONS})
    endforeach()
    _warpline_usage("${target}")
endfunction()
