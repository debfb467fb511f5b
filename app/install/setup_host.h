// The machine as `lookout setup` sees it. Tests pass their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/install/judge_model.h"
#include "app/options/options.h"
#include "pipeline/core/frame.h"
#include "platform/sources/auto_camera.h"

namespace lookout {

// Functions throw Error unless something else is said.
struct SetupHost {
  std::filesystem::path root;  // all files lie below it: "/"
  bool may_write = false;      // below the root
  bool is_terminal = false;    // somebody can answer
  bool shows_codes = false;    // what is told is shown by a terminal that draws characters

  std::function<void(std::string_view text)> tell;
  // Both show the question and return a line. Throw Error(kUsage) at the end of the input.
  std::function<std::string(const std::string& question)> ask;
  std::function<std::string(const std::string& question)> ask_secret;  // not shown while typed

  std::function<Cameras()> cameras;
  // Reads a picture, for at most 15 s. Returns what it is: "640x480, saved as /tmp/x.jpg". `save`:
  // for somebody to look at.
  std::function<std::string(const std::string& source, bool save)> take_picture;
  std::function<void()> remove_pictures;  // that were saved; throws nothing
  // As judge_model(), of a file with this name and content.
  std::function<JudgedModel(const std::string& name, const std::string& bytes)> judge;
  // The installed base that classes are taught from. Nothing: there is none.
  std::function<std::optional<std::filesystem::path>()> base;
  // Connects as the options say, with this password.
  std::function<void(const MqttOptions& options, const std::string& password)> try_broker;
  // Whether messages can be sent to this address. Sends nothing.
  std::function<void(const std::string& url)> check_message;
  // Removes the camera of these options from the broker.
  std::function<void(const RunOptions& options)> forget_camera;
  // The IP addresses of a host, and those of the name servers that this machine asks.
  std::function<std::vector<std::string>(const std::string& host)> addresses_of;
  std::function<std::vector<std::string>()> name_servers;
  // The address by which other machines reach this one; empty: unknown.
  std::function<std::string()> own_address;
  std::function<std::string()> host_name;

  // The first line that systemctl(1) prints. `is-active` and `is-enabled` never throw.
  std::function<std::string(const std::vector<std::string>& arguments)> systemctl;
  // The log of the service since a time, in seconds since 1970. Empty where it cannot be read.
  std::function<std::string(std::int64_t since)> journal;
  std::function<void()> pause;  // for half a second
  std::function<Clock::time_point()> now;
};

// Whether a host with these addresses is on the internet. One at home may have a public address of
// IPv6, too.
bool is_public_host(const std::vector<std::string>& addresses);

// This machine. `root`: empty for "/".
SetupHost local_setup_host(const std::string& root,
                           const std::function<void(std::string_view)>& tell);

}  // namespace lookout
