# Linux on 64-bit ARM, by the cross compiler of Debian and its relatives. Programs are static, so that they run in
# qemu's user emulation, and on any ARM machine that they are copied to, without a C library beside them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
# Every instruction set that qemu knows, with SVE registers of up to 512 bits.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-cpu;max,sve-max-vq=4)
