// What of a configuration, an environment and a log may be shown to strangers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lookout {

// The value of a setting without what is secret in it. Passwords, tokens, headers and the like are
// "***", an address shows its host alone, a command its program. A path of a file is shown, also of
// one with a secret. `name`: "mqtt.url".
std::string shown_setting(const std::string& name, const std::string& value);

// Knows the secrets of a configuration, and hides them in any text.
class Masking {
 public:
  // `given`: the texts that were set, by the settings' names. `environment`: NAME=value, of which
  // values of variables LOOKOUT_... that are no settings are secrets, too.
  Masking(const std::map<std::string, std::string>& given,
          const std::vector<std::string>& environment);

  // The text without these secrets, without the user names, passwords and queries of all addresses
  // in it, and without what follows "password=", "token:" and the like, or "Bearer".
  std::string masked(std::string_view text) const;

 private:
  void add(const std::string& secret);
  void add_words(std::string_view text);
  void add_setting(const std::string& name, const std::string& value);

  std::vector<std::string> secrets_;  // the longest first
};

}  // namespace lookout
