# What every target of the project is built with. Usage requirements only; no directory-wide flags.

add_library(normforge_options INTERFACE)
target_compile_options(normforge_options INTERFACE
    -Wall -Wextra -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Wconversion -Wno-sign-conversion)
if (NORMFORGE_WERROR)
    target_compile_options(normforge_options INTERFACE -Werror)
endif ()

# normforge_library(<name> SOURCES ... [LINKS ...]): a static library of one folder; its headers are included
# by the folder's name, "runtime/norm_problem.h".
function(normforge_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
    add_library(${name} STATIC ${arg_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${arg_LINKS} PRIVATE $<BUILD_INTERFACE:normforge_options>)
endfunction()

# normforge_precompile_halide(<target>): for targets whose sources include Halide.h. It takes seconds to parse, so all
# share the precompiled copy of normforge_schedules.
function(normforge_precompile_halide target)
    target_precompile_headers(${target} REUSE_FROM normforge_schedules)
endfunction()

# normforge_use_llvm(<target> COMPONENT ...): for targets whose sources see LLVM's headers. LLVM is built without
# run-time type information, so they must be too. The headers do not reach users of the target.
function(normforge_use_llvm target)
    llvm_map_components_to_libnames(libraries ${ARGN})
    target_compile_options(${target} PRIVATE -fno-rtti)
    target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
    target_link_libraries(${target} PRIVATE ${libraries})
endfunction()
