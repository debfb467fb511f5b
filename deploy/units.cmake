# Makes lookout.service and lookout@.service of one template in the folder UNITS, so that an instance differs
# from the service in its name and its configuration alone.
#
#   cmake -D UNITS=FOLDER -P deploy/units.cmake
set(OF_CAMERA "")
set(CONFIGURATION "lookout.toml")
configure_file(${CMAKE_CURRENT_LIST_DIR}/lookout.service.in ${UNITS}/lookout.service @ONLY)
set(OF_CAMERA ", camera %i")
set(CONFIGURATION "%i.toml --set camera.name=%i")
configure_file(${CMAKE_CURRENT_LIST_DIR}/lookout.service.in ${UNITS}/lookout@.service @ONLY)
