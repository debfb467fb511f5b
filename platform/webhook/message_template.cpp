#include "platform/webhook/message_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/json_text.h"
#include "pipeline/core/printable.h"
#include "platform/system/percent_encoding.h"

namespace lookout {
namespace {

constexpr std::string_view kScore = "score";
constexpr const char* kPlaceholders = "{camera}, {watch}, {state}, {previous}, {score} and {time}";

constexpr std::array<std::pair<std::string_view, std::string MessageFields::*>, 5> kTextFields{
    {{"camera", &MessageFields::camera},
     {"watch", &MessageFields::watch},
     {"state", &MessageFields::state},
     {"previous", &MessageFields::previous},
     {"time", &MessageFields::time}}};

bool is_word_letter(char letter) {
  const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
  return is_letter || (letter >= '0' && letter <= '9') || letter == '_' || letter == '-';
}

// The word of "{word}", with which the text begins; empty when it does not.
std::string_view word_in_braces(std::string_view text) {
  if (text.empty() || text.front() != '{') return {};
  std::size_t end = 1;
  while (end < text.size() && is_word_letter(text[end])) ++end;
  const bool closes = end > 1 && end < text.size() && text[end] == '}';
  return closes ? text.substr(1, end - 1) : std::string_view();
}

// Follows JSON, to know what is inside of quotes.
class JsonQuotes {
 public:
  void pass(char letter) {
    if (escaped_) {
      escaped_ = false;
    } else if (inside_ && letter == '\\') {
      escaped_ = true;
    } else if (letter == '"') {
      inside_ = !inside_;
    }
  }
  bool inside() const { return inside_; }

 private:
  bool inside_ = false;
  bool escaped_ = false;
};

// On one line, and without blanks at its ends.
std::string header_value(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char letter) { return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f'; },
      ' ');
  const auto begin = std::min(text.find_first_not_of(' '), text.size());
  const auto end = text.find_last_not_of(' ');
  return end == std::string::npos ? std::string() : text.substr(begin, end + 1 - begin);
}

}  // namespace

MessageTemplate::MessageTemplate(const std::string& what, std::string_view text, Escaping escaping)
    : escaping_(escaping) {
  JsonQuotes quotes;
  Part part;
  while (!text.empty()) {
    const std::string_view word = word_in_braces(text);
    if (word.empty()) {
      quotes.pass(text.front());
      part.text += text.front();
      text.remove_prefix(1);
      continue;
    }
    const auto* const found = std::find_if(kTextFields.begin(), kTextFields.end(),
                                           [word](const auto& each) { return each.first == word; });
    part.is_score = word == kScore;
    if (found != kTextFields.end()) part.member = found->second;
    if (!part.is_score && part.member == nullptr) {
      throw Error(ErrorKind::kConfig,
                  fmt::format("{}: there is no {{{}}}, only {}", what, word, kPlaceholders));
    }
    part.is_value = escaping == Escaping::kJson && !quotes.inside();
    parts_.push_back(std::exchange(part, {}));
    text.remove_prefix(word.size() + 2);
  }
  if (!part.text.empty()) parts_.push_back(std::move(part));
  if (escaping == Escaping::kJson && parse_json(fill({})).is_discarded()) {
    throw Error(ErrorKind::kConfig, what + " is sent as JSON, and is not valid JSON");
  }
}

std::string MessageTemplate::fill(const MessageFields& fields) const {
  std::string text;
  for (const Part& part : parts_) append(part, fields, text);
  return escaping_ == Escaping::kHeader ? header_value(std::move(text)) : text;
}

void MessageTemplate::append(const Part& part, const MessageFields& fields,
                             std::string& out) const {
  out += part.text;
  if (part.member == nullptr && !part.is_score) return;
  std::string value;
  if (part.member != nullptr) {
    value = fields.*part.member;
  } else if (fields.score) {
    value = fmt::format("{:.2f}", *fields.score);
  } else if (part.is_value) {
    value = "null";
  }
  if (escaping_ == Escaping::kUrl) {
    value = percent_encoded(value);
  } else if (escaping_ == Escaping::kJson && part.member != nullptr) {
    value = to_json(value);
    if (!part.is_value) value = value.substr(1, value.size() - 2);
  }
  out += value;
}

bool looks_like_json(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (text.empty() || (text.front() != '{' && text.front() != '[')) return false;
  return word_in_braces(text).empty();
}

}  // namespace lookout
