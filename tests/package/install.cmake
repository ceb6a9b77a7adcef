# Installs the build's tree and moves it, so that nothing in it may know where it was.
file(REMOVE_RECURSE ${work}/installed ${work}/moved)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${work}/installed COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${work}/installed ${work}/moved)
execute_process(COMMAND ${work}/moved/bin/normforge --version COMMAND_ERROR_IS_FATAL ANY)
file(READ ${work}/moved/lib/cmake/normforge/normforgeConfig.cmake config)
if (config MATCHES "${work}")
    message(FATAL_ERROR "the package names the folder that it was installed into")
endif ()
