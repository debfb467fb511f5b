#include "app/inspect/masking.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "pipeline/core/json_text.h"
#include "pipeline/core/lower_case.h"
#include "pipeline/core/text.h"
#include "platform/sources/network_url.h"
#include "platform/sources/source_uri.h"

namespace lookout {
namespace {

constexpr const char* kMasked = "***";
constexpr const char* kBeforeHost = "://";
constexpr std::string_view kVariable = "LOOKOUT_";

// "url" of "mqtt.url"
std::string_view key_of(std::string_view name) { return name.substr(name.rfind('.') + 1); }

bool names_file(std::string_view key) {
  return ends_with(key, "-file") || key == "file" || key == "credentials" || key == "ca" ||
         key == "certificate" || key == "key";
}

bool names_secret(std::string_view key) {
  for (const char* word :
       {"password", "token", "secret", "header", "body", "form", "authorization"}) {
    if (key.find(word) != key.npos) return true;
  }
  return false;
}

// Where the host of an address begins, and what comes behind it: path and query.
struct AddressParts {
  std::size_t authority;
  std::size_t host;
  std::size_t rest;
};

AddressParts parts_of(std::string_view address) {
  const std::size_t authority = address.find(kBeforeHost) + std::string_view(kBeforeHost).size();
  // A password that is not escaped may hold '@' and '/'.
  const std::size_t at = address.rfind('@');
  const std::size_t host = at == address.npos || at < authority ? authority : at + 1;
  return {authority, host, std::min(address.find_first_of("/?#", host), address.size())};
}

// "https://***@host:8123/***": the path of a webhook is a secret, too.
std::string host_alone(const std::string& address) {
  const AddressParts parts = parts_of(address);
  std::string shown = address.substr(0, parts.authority);
  if (parts.host > parts.authority) shown += std::string(kMasked) + "@";
  shown += address.substr(parts.host, parts.rest - parts.host);
  if (parts.rest + 1 < address.size()) shown += std::string("/") + kMasked;
  return shown;
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr const char* kBetween = " \t\n\"'=:;,&?/@";
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kBetween), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Where the secret behind a word like "password=" begins; nothing: there is none. `line` is in
// lower case.
std::optional<std::size_t> secret_after(std::string_view line, std::size_t word_end) {
  std::size_t at = word_end;
  while (at < line.size() && (line[at] == '"' || line[at] == '\'')) ++at;
  if (at >= line.size() || (line[at] != '=' && line[at] != ':')) return std::nullopt;
  ++at;
  while (at < line.size() && (line[at] == ' ' || line[at] == '"' || line[at] == '\'')) ++at;
  return at < line.size() ? std::optional(at) : std::nullopt;
}

std::string without_named_secrets(std::string line) {
  constexpr std::array<std::string_view, 8> kNames{"password", "passwd", "token",   "secret",
                                                   "api_key",  "apikey", "api-key", "bearer "};
  constexpr const char* kEnds = " \t\"',;&)";
  for (const std::string_view name : kNames) {
    std::string lower = lower_case(line);
    for (std::size_t at = lower.find(name); at != std::string::npos; at = lower.find(name, at)) {
      at += name.size();
      const auto begin = name.back() == ' ' ? std::optional(at) : secret_after(lower, at);
      if (!begin) continue;
      const std::size_t end = std::min(line.find_first_of(kEnds, *begin), line.size());
      line.replace(*begin, end - *begin, kMasked);
      lower = lower_case(line);
      at = *begin;
    }
  }
  return line;
}

void replace_all(std::string& text, const std::string& what) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), kMasked);
    at += std::string_view(kMasked).size();
  }
}

}  // namespace

std::string shown_setting(const std::string& name, const std::string& value) {
  const std::string_view key = key_of(name);
  if (name == "camera.source") return shown_source(value);
  if (names_file(key)) return value;
  if (names_secret(key)) return kMasked;
  if (key == "on-change") {
    const auto end = std::min(value.find_first_of(" \t"), value.size());
    const bool is_alone = end == value.size();
    return shown_setting("", value.substr(0, end)) + (is_alone ? "" : std::string(" ") + kMasked);
  }
  return value.find(kBeforeHost) == std::string::npos ? value : host_alone(value);
}

void Masking::add(const std::string& secret) {
  constexpr std::size_t kShortest = 4;  // shorter ones are everywhere
  if (secret.size() < kShortest) return;
  secrets_.push_back(secret);
  // As JSON has it, without the quotes around it.
  const std::string json = to_json(secret);
  if (json.size() != secret.size() + 2) secrets_.push_back(json.substr(1, json.size() - 2));
}

// Words of a text that is a secret as a whole; those that look like a word of a language stay.
void Masking::add_words(std::string_view text) {
  constexpr std::size_t kLong = 8;
  for (const std::string_view word : words_of(text)) {
    const bool has_digit =
        std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (word.size() >= kLong && has_digit) add(std::string(word));
  }
}

void Masking::add_setting(const std::string& name, const std::string& value) {
  if (value.find(kBeforeHost) != std::string::npos) {
    const AddressParts parts = parts_of(value);
    const std::string login = value.substr(parts.authority, parts.host - parts.authority);
    if (!login.empty()) {
      add(login.substr(0, login.size() - 1));
      const auto colon = login.find(':');
      if (colon != std::string::npos) add(login.substr(colon + 1, login.size() - colon - 2));
    }
    const std::string_view address = value;
    add_words(address.substr(parts.rest));
  }
  const std::string_view key = key_of(name);
  if (names_file(key)) return;
  if (names_secret(key)) add(value);
  if (names_secret(key) || key == "on-change") add_words(value);
}

Masking::Masking(const std::map<std::string, std::string>& given,
                 const std::vector<std::string>& environment) {
  for (const auto& [name, value] : given) add_setting(name, value);
  for (const std::string& variable : environment) {
    if (variable.rfind(kVariable, 0) != 0) continue;
    const std::string value =
        variable.substr(std::min(variable.find('='), variable.size() - 1) + 1);
    const bool is_setting = std::any_of(given.begin(), given.end(), [&value](const auto& setting) {
      return setting.second == value;
    });
    if (!is_setting) add(value);
  }
  std::sort(secrets_.begin(), secrets_.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Masking::masked(std::string_view text) const {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    for (const std::string& secret : secrets_) replace_all(line, secret);
    result += without_named_secrets(hide_secrets(line));
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace lookout
