# Run by CPack on the staged files: Depends is what the shared libraries that they need come from,
# as the sysroot's packages say (their shlibs files, by make-sysroot.sh), or without one this machine's.
# Strips the programs.
#
# What only the parts that the program can do without need is recommended or suggested. apt installs what is
# recommended: what the answers of `lookout setup` need, a broker and messages (3.5 MB on a system with nothing
# of it). A machine without a screen should not get Qt, one without videos no FFmpeg.
set(_program "${CPACK_TEMPORARY_DIRECTORY}/lookout")
set(_parts "${_program}/usr/lib/lookout")
file(GLOB _recommending "${_parts}/liblookout-mqtt.so" "${_parts}/liblookout-webhook.so")
file(GLOB _suggesting "${_parts}/lookout-overlay" "${_parts}/liblookout-*.so")
list(REMOVE_ITEM _suggesting ${_recommending})
# Nothing asks for libcamera: a module that finds none is not used, and the Pi's system brings its own.
file(GLOB _libcamera "${_program}/usr/lib/lookout/libcamera/*.so")
file(GLOB _engine_modules "${CPACK_TEMPORARY_DIRECTORY}/*/usr/lib/lookout/liblookout-*.so")
execute_process(
  COMMAND "${CPACK_LOOKOUT_STRIP}" --strip-all "${_program}/usr/bin/lookout"
    "${_program}/usr/lib/lookout/lookout-decoder"
    "${_program}/usr/lib/lookout/lookout-stream-decoder" ${_recommending} ${_suggesting} ${_libcamera}
    ${_engine_modules}
  COMMAND_ERROR_IS_FATAL ANY)
set(_shlibs)
set(_sysroot_libraries)
if(NOT CPACK_LOOKOUT_SYSROOT)
  # Their symbols files, which dpkg-shlibdeps would take, ask for older versions: so both builds ask for the same.
  # Packages of other architectures may be there, too.
  file(GLOB _files /var/lib/dpkg/info/*:${CPACK_LOOKOUT_ARCHITECTURE}.shlibs)
  foreach(_file IN LISTS _files)
    file(READ "${_file}" _lines)
    string(APPEND _shlibs "${_lines}")
  endforeach()
elseif(EXISTS "${CPACK_LOOKOUT_SYSROOT}/shlibs")
  file(READ "${CPACK_LOOKOUT_SYSROOT}/shlibs" _shlibs)
  set(_sysroot_libraries "-l${CPACK_LOOKOUT_SYSROOT}/usr/lib/aarch64-linux-gnu")
else()
  message(FATAL_ERROR "${CPACK_LOOKOUT_SYSROOT} has no list of shlibs: run make-sysroot.sh again")
endif()

set(_work "${CPACK_TEMPORARY_DIRECTORY}.depends")
file(WRITE "${_work}/debian/control" "Source: lookout\n\nPackage: lookout\nArchitecture: ${CPACK_LOOKOUT_ARCHITECTURE}\n")
# Those of the packages themselves ask for nothing: an engine asks for the program's version.
file(GLOB _libraries "${CPACK_TEMPORARY_DIRECTORY}/*/usr/lib/lookout/*.so.*")
foreach(_library IN LISTS _libraries)
  string(REGEX REPLACE ".*/([^/]+)\\.so\\.([^/]+)$" "\\1 \\2" _library "${_library}")
  string(REGEX REPLACE "(^|\n)${_library} [^\n]*\n" "\\1" _shlibs "${_shlibs}")
  string(APPEND _shlibs "${_library}\n")
endforeach()
file(WRITE "${_work}/debian/shlibs.local" "${_shlibs}")

# find_packages(PACKAGE FILE... [-dRecommends FILE...] [-dSuggests FILE...]): sets _depends, _recommends and
# _suggests to the packages that these files of the package need. Each is in the strongest field alone.
function(find_packages package)
  set(_stage "${CPACK_TEMPORARY_DIRECTORY}/${package}")
  file(MAKE_DIRECTORY "${_stage}/DEBIAN")  # so that $ORIGIN is understood
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env DEB_HOST_ARCH=${CPACK_LOOKOUT_ARCHITECTURE}
      dpkg-shlibdeps -O --warnings=1 "-l${_stage}/usr/lib/lookout" "-l${_program}/usr/lib/lookout"
      ${_sysroot_libraries} -dDepends ${ARGN}
    WORKING_DIRECTORY "${_work}"
    OUTPUT_VARIABLE _found ERROR_VARIABLE _errors RESULT_VARIABLE _status)
  file(REMOVE_RECURSE "${_stage}/DEBIAN")
  if(_status OR NOT _found MATCHES "shlibs:Depends=[^\n]")
    message(FATAL_ERROR "dpkg-shlibdeps: ${_errors}${_found}")
  endif()
  foreach(_field IN ITEMS Depends Recommends Suggests)
    string(TOLOWER "_${_field}" _variable)
    string(REGEX MATCH "shlibs:${_field}=([^\n]*)" _line "${_found}")
    set(${_variable} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  endforeach()
endfunction()

file(GLOB _binaries LIST_DIRECTORIES false "${_program}/usr/bin/*" "${_program}/usr/lib/lookout/*")
list(REMOVE_ITEM _binaries ${_recommending} ${_suggesting})
find_packages(lookout ${_binaries} -dRecommends ${_recommending} -dSuggests ${_suggesting})
# postinst makes the service's user. Of the engines one has to be there, of the program's version: apt would
# remove that of another version when somebody asks for an older program alone.
list(TRANSFORM CPACK_LOOKOUT_ENGINES APPEND " (= ${CPACK_DEBIAN_PACKAGE_VERSION})" OUTPUT_VARIABLE _engines)
list(JOIN _engines " | " _engines)
set(CPACK_DEBIAN_LOOKOUT_PACKAGE_DEPENDS
    "${_depends}, ${_engines}, systemd | systemd-standalone-sysusers | systemd-sysusers")
set(CPACK_DEBIAN_LOOKOUT_PACKAGE_RECOMMENDS "${_recommends}")
set(CPACK_DEBIAN_LOOKOUT_PACKAGE_SUGGESTS "${_suggests}, g++, lookout-base")
foreach(_package IN LISTS CPACK_LOOKOUT_ENGINES)
  string(TOUPPER ${_package} _upper)
  file(GLOB _binaries "${CPACK_TEMPORARY_DIRECTORY}/${_package}/usr/lib/lookout/*")
  find_packages(${_package} ${_binaries})
  set(CPACK_DEBIAN_${_upper}_PACKAGE_DEPENDS
      "lookout (= ${CPACK_DEBIAN_PACKAGE_VERSION}), ${_depends}")
endforeach()
file(REMOVE_RECURSE "${_work}")
