#!/bin/bash
# Sourced in a guest, after service.sh, by tests on libcamera's own cameras `virtual`, which show pictures.

# make_virtual_cameras: two of them, hcolorbars and red; by falling name, red is csi://0. The service has to
# be allowed to take memory for them.
make_virtual_cameras() {
  local pictures=/usr/local/share/pictures config=/usr/share/libcamera/pipeline/virtual made pattern
  made=$(mktemp -d)
  mkdir -p $pictures $config /etc/systemd/system/$unit.d
  for pattern in hcolorbars red; do
    lookout run "test://$pattern?size=640x480&frames=1" --snapshot-on-change "$made" > "$made/out" 2>&1 ||
      { cat "$made/out"; fail "no picture of $pattern"; }
    mv "$made"/*.jpg $pictures/$pattern.jpg
    printf '%s:\n  supported_formats:\n  - width: 640\n    height: 480\n  frames:\n    path: "%s"\n' \
      $pattern $pictures/$pattern.jpg
  done > $config/virtual.yaml
  rm -r "$made"
  printf '[Service]\nSupplementaryGroups=kvm\nDeviceAllow=/dev/udmabuf rw\n' > /etc/systemd/system/$unit.d/virtual.conf
  systemctl daemon-reload
}
