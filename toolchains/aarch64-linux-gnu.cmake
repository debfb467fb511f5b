# Cross building for the Raspberry Pi 4, against a sysroot of make-sysroot.sh:
#
#   cmake -S . -B build -DCMAKE_TOOLCHAIN_FILE=toolchains/aarch64-linux-gnu.cmake
#
# LOOKOUT_SUITE    Debian's release on the target: bookworm (default) or trixie
# LOOKOUT_SYSROOT  the sysroot, where make-sysroot.sh puts that of LOOKOUT_SUITE by default
#
# Programs run in the emulator (tests through CMAKE_CROSSCOMPILING_EMULATOR), as on a Cortex-A72.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

if(NOT LOOKOUT_SYSROOT)
  if(NOT LOOKOUT_SUITE)
    set(LOOKOUT_SUITE bookworm)
  endif()
  include("${CMAKE_CURRENT_LIST_DIR}/cache.cmake")
  set(LOOKOUT_SYSROOT "${LOOKOUT_CACHE}/sysroot-${LOOKOUT_SUITE}")
endif()
set(LOOKOUT_SYSROOT "${LOOKOUT_SYSROOT}" CACHE PATH "Root of the target, by make-sysroot.sh")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LOOKOUT_SYSROOT)

if(NOT EXISTS "${LOOKOUT_SYSROOT}/lookout-sysroot")
  if(NOT LOOKOUT_SUITE)
    set(LOOKOUT_SUITE bookworm)
  endif()
  message(FATAL_ERROR "No sysroot in ${LOOKOUT_SYSROOT}. This makes it, as root:\n"
    "  ${CMAKE_CURRENT_LIST_DIR}/make-sysroot.sh ${LOOKOUT_SUITE} ${LOOKOUT_SYSROOT}")
endif()
file(STRINGS "${LOOKOUT_SYSROOT}/lookout-sysroot" _suite REGEX "^suite=")
file(STRINGS "${LOOKOUT_SYSROOT}/lookout-sysroot" _gcc REGEX "^gcc=")
string(REPLACE "suite=" "" _suite "${_suite}")
string(REPLACE "gcc=" "" _gcc "${_gcc}")
if(LOOKOUT_SUITE AND NOT LOOKOUT_SUITE STREQUAL _suite)
  message(FATAL_ERROR "LOOKOUT_SUITE is ${LOOKOUT_SUITE}, but ${LOOKOUT_SYSROOT} is for ${_suite}: "
    "each release needs a build folder of its own.")
endif()

set(CMAKE_SYSROOT "${LOOKOUT_SYSROOT}")
set(_libraries "${LOOKOUT_SYSROOT}/usr/lib/aarch64-linux-gnu")

# Debian's cross GCC brings a C and C++ library of its own, headers and start files included: right
# where the target's are the same version, wrong for any other release (OpenCV of trixie wants a
# newer libstdc++ and glibc than GCC 12 brings). Clang has none and takes all of them, libgcc too,
# from the sysroot: one compiler for every release of the target.
if(NOT CMAKE_CXX_COMPILER)
  find_program(LOOKOUT_CROSS_GCC aarch64-linux-gnu-g++)
  mark_as_advanced(LOOKOUT_CROSS_GCC)
  set(_version)
  if(LOOKOUT_CROSS_GCC)
    execute_process(COMMAND "${LOOKOUT_CROSS_GCC}" -dumpversion
      OUTPUT_VARIABLE _version OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  if(_version STREQUAL _gcc)
    set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
    set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
  else()
    set(CMAKE_C_COMPILER clang-19)
    set(CMAKE_CXX_COMPILER clang++-19)
  endif()
endif()
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)

# ARMv8.0 with CRC: no LSE atomics, no dot product.
# Headers that name themselves in messages do not tell where the sysroot lies.
set(CMAKE_C_FLAGS_INIT
  "-march=armv8-a+crc -mtune=cortex-a72 -fmacro-prefix-map=${LOOKOUT_SYSROOT}=")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT}")
foreach(_type EXE SHARED MODULE)
  if(CMAKE_CXX_COMPILER MATCHES "clang[^/]*$")
    set(CMAKE_${_type}_LINKER_FLAGS_INIT "-fuse-ld=lld")
  else()
    # A cross GNU ld does not follow the libraries' own RPATH.
    set(CMAKE_${_type}_LINKER_FLAGS_INIT
      "-Wl,-rpath-link,${_libraries}:${LOOKOUT_SYSROOT}/opt/libtorch/lib")
  endif()
endforeach()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(Torch_DIR "${LOOKOUT_SYSROOT}/opt/libtorch/share/cmake/Torch" CACHE PATH "TorchConfig.cmake")

set(ENV{PKG_CONFIG_SYSROOT_DIR} "${LOOKOUT_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${_libraries}/pkgconfig:${LOOKOUT_SYSROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_PATH} "")

# -L redirects absolute paths, the RPATH of what is built here too: CMake writes it without the
# sysroot. A LD_LIBRARY_PATH of the build machine must not reach the target's loader.
# QEMU_LD_PREFIX: a program that the emulated one starts has its loader there, too.
find_program(LOOKOUT_QEMU NAMES qemu-aarch64-static qemu-aarch64)
mark_as_advanced(LOOKOUT_QEMU)
if(LOOKOUT_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR
    "${LOOKOUT_QEMU};-cpu;cortex-a72;-L;${LOOKOUT_SYSROOT};-U;LD_LIBRARY_PATH;-E;QEMU_LD_PREFIX=${LOOKOUT_SYSROOT}")
endif()
