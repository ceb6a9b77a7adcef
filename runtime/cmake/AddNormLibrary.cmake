# add_norm_library(<name> [STATIC | SHARED] OPS op ... HIDDEN size ... [DTYPES type ...] [OPTIONS option ...]
#                  [MANIFEST file] [TARGETS target ...] [DEVICE gpu] [DATABASE file | UNTUNED])
#
# Adds the library target <name>, with the header <name>.h: the kernels of all problems that OPS, HIDDEN, DTYPES and
# OPTIONS name together, or MANIFEST lists. `normforge build` writes it, when the program is built and again whenever
# normforge, the database or the manifest has changed. While CMake runs, it prints where each problem's schedules
# come from.
#
# OPTIONS     more of `normforge build`'s options for problems, such as: --residual bf16 --sum bf16
# TARGETS     Halide targets, all of one architecture, of which a program takes the best its CPU can run; by default
#             this machine, when cross compiling the least that the target architecture has. cuda, alone or beside
#             them, is kernels for GPUs
# DEVICE      the GPU that schedules for cuda are chosen for, such as h200
# DATABASE    the tuning database; by default the one that `normforge tune` writes without --db
# UNTUNED     the heuristic's schedules, whatever was measured
# STATIC or SHARED is decided by BUILD_SHARED_LIBS where neither is given.
cmake_policy(PUSH)
cmake_policy(VERSION 3.21)

function(add_norm_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;SHARED;UNTUNED" "MANIFEST;DEVICE;DATABASE" "OPS;HIDDEN;DTYPES;OPTIONS;TARGETS")
    if (arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "add_norm_library(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
    endif ()
    if (arg_STATIC AND arg_SHARED)
        message(FATAL_ERROR "add_norm_library(${name}): STATIC and SHARED exclude each other")
    endif ()
    if (arg_UNTUNED AND arg_DATABASE)
        message(FATAL_ERROR "add_norm_library(${name}): UNTUNED and DATABASE exclude each other")
    endif ()

    set(problems ${arg_OPTIONS})
    foreach (option_and_values --op=OPS --hidden=HIDDEN --dtype=DTYPES)
        string(REPLACE "=" ";" pair ${option_and_values})
        list(GET pair 0 option)
        list(GET pair 1 values)
        if (arg_${values})
            list(JOIN arg_${values} "," joined)
            list(APPEND problems ${option} ${joined})
        endif ()
    endforeach ()
    if (arg_MANIFEST)
        cmake_path(ABSOLUTE_PATH arg_MANIFEST BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
        list(APPEND problems --manifest ${arg_MANIFEST})
        # The rule's depfile names it, and the database, as well. Here it is for the table that is printed below.
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_MANIFEST})
    endif ()
    set(schedules "")
    if (arg_UNTUNED)
        set(schedules --untuned)
    elseif (arg_DATABASE)
        cmake_path(ABSOLUTE_PATH arg_DATABASE BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
        set(schedules --db ${arg_DATABASE})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_DATABASE})
    endif ()
    if (NOT arg_TARGETS AND CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
        set(arg_TARGETS arm-64-linux-neon)
    elseif (NOT arg_TARGETS AND CMAKE_CROSSCOMPILING)
        set(arg_TARGETS x86-64-linux)
    endif ()
    if (arg_TARGETS)
        list(JOIN arg_TARGETS "," arg_TARGETS)
        list(APPEND schedules --target ${arg_TARGETS})
    endif ()
    if (arg_DEVICE)
        list(APPEND schedules --device ${arg_DEVICE})
    endif ()

    set(kind STATIC)
    set(suffix a)
    set(shared "")
    if (arg_SHARED OR (BUILD_SHARED_LIBS AND NOT arg_STATIC))
        set(kind SHARED)
        set(suffix so)
        set(shared --shared)
    endif ()
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
    set(library ${folder}/lib${name}.${suffix})
    set(build ${problems} ${schedules} --name ${name} --out ${folder})
    # Its folder must be there when targets are made that include from it.
    file(MAKE_DIRECTORY ${folder})

    get_target_property(program normforge::normforge IMPORTED_LOCATION)
    if (EXISTS ${program})
        execute_process(COMMAND ${program} build ${build} --dry-run
            OUTPUT_VARIABLE table ERROR_VARIABLE errors RESULT_VARIABLE status)
        if (NOT status EQUAL 0)
            message(FATAL_ERROR "add_norm_library(${name}): ${errors}")
        endif ()
        message(STATUS "Kernels of ${name}:\n${table}${errors}")
    endif ()

    add_custom_command(OUTPUT ${library} ${folder}/${name}.h
        # A shared library is linked by this C compiler.
        COMMAND ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER}
            $<TARGET_FILE:normforge::normforge> build ${build} ${shared} --depfile ${folder}/${name}.d
        DEPENDS normforge::normforge DEPFILE ${folder}/${name}.d
        COMMENT "Writing ${library}" VERBATIM)
    add_custom_target(${name}_files DEPENDS ${library} ${folder}/${name}.h)
    add_library(${name} ${kind} IMPORTED GLOBAL)
    add_dependencies(${name} ${name}_files)
    set_target_properties(${name} PROPERTIES
        IMPORTED_LOCATION ${library} INTERFACE_INCLUDE_DIRECTORIES ${folder})
    if (kind STREQUAL SHARED)
        set_target_properties(${name} PROPERTIES IMPORTED_SONAME lib${name}.so)
    endif ()
endfunction()

cmake_policy(POP)
