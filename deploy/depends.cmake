# Run by CPack on the staged files: Depends is what the shared libraries that they need come from,
# as the sysroot's packages say (their shlibs files, by make-sysroot.sh). Strips the programs.
#
# What only the parts that the program can do without need is suggested: apt installs what is
# recommended, and a machine without a screen should not get Qt, one without videos no FFmpeg.
set(_stage "${CPACK_TEMPORARY_DIRECTORY}")
file(GLOB _suggesting "${_stage}/usr/lib/lookout/lookout-overlay"
     "${_stage}/usr/lib/lookout/liblookout-*.so")
# Nothing asks for libcamera: a module that finds none is not used, and the Pi's system brings its own.
file(GLOB _libcamera "${_stage}/usr/lib/lookout/libcamera/*.so")
set(_torch "${_stage}/usr/lib/lookout/liblookout-torch.so")  # without it no model runs
list(REMOVE_ITEM _suggesting "${_torch}")
execute_process(
  COMMAND "${CPACK_LOOKOUT_STRIP}" --strip-all "${_stage}/usr/bin/lookout" "${_torch}" ${_suggesting}
    ${_libcamera}
  COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS "${CPACK_LOOKOUT_SYSROOT}/shlibs")
  message(FATAL_ERROR "${CPACK_LOOKOUT_SYSROOT} has no list of shlibs: run make-sysroot.sh again")
endif()

file(GLOB _binaries LIST_DIRECTORIES false "${_stage}/usr/bin/*" "${_stage}/usr/lib/lookout/*")
set(_work "${_stage}.depends")
file(MAKE_DIRECTORY "${_stage}/DEBIAN")  # so that $ORIGIN is understood
file(WRITE "${_work}/debian/control" "Source: lookout\n\nPackage: lookout\nArchitecture: arm64\n")
# Those of the package itself ask for nothing.
file(READ "${CPACK_LOOKOUT_SYSROOT}/shlibs" _shlibs)
list(REMOVE_ITEM _binaries ${_suggesting})
foreach(_binary IN LISTS _binaries)
  if(_binary MATCHES "/([^/]+)\\.so\\.([^/]+)$")
    set(_library "${CMAKE_MATCH_1} ${CMAKE_MATCH_2}")
    string(REGEX REPLACE "(^|\n)${_library} [^\n]*\n" "\\1" _shlibs "${_shlibs}")
    string(APPEND _shlibs "${_library}\n")
  endif()
endforeach()
file(WRITE "${_work}/debian/shlibs.local" "${_shlibs}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env DEB_HOST_ARCH=arm64
    dpkg-shlibdeps -O --warnings=1
    "-l${_stage}/usr/lib/lookout" "-l${CPACK_LOOKOUT_SYSROOT}/usr/lib/aarch64-linux-gnu"
    -dDepends ${_binaries} -dSuggests ${_suggesting}
  WORKING_DIRECTORY "${_work}"
  OUTPUT_VARIABLE _depends ERROR_VARIABLE _errors RESULT_VARIABLE _status)
if(_status OR NOT _depends MATCHES "^shlibs:Depends=([^\n]+)\nshlibs:Suggests=([^\n]+)\n")
  message(FATAL_ERROR "dpkg-shlibdeps: ${_errors}${_depends}")
endif()
file(REMOVE_RECURSE "${_stage}/DEBIAN" "${_work}")
# postinst makes the service's user.
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "${CMAKE_MATCH_1}, systemd | systemd-standalone-sysusers | systemd-sysusers")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "${CMAKE_MATCH_2}, g++")
message(STATUS "Depends: ${CPACK_DEBIAN_PACKAGE_DEPENDS}")
message(STATUS "Suggests: ${CPACK_DEBIAN_PACKAGE_SUGGESTS}")
