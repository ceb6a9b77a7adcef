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
