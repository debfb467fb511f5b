// Texts of messages, in which words in braces stand for what has changed: "{camera}: {state}".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lookout {

// What a message can tell of a change. All texts are UTF-8, but may hold any character.
struct MessageFields {
  std::string camera;          // its name
  std::string watch;           // its name; empty: the run has one without
  std::string state;           // the label, or "unknown"
  std::string previous;        // likewise; empty for the first, and after the camera was away
  std::optional<float> score;  // 0..1, smoothed; nothing when unknown
  std::string time;            // of the frame's capture, "2027-11-22T10:15:00+01:00"
};

// How a value is written into a text, so that it cannot end what it stands in.
enum class Escaping {
  kNone,
  kJson,    // within quotes as a part of the string, elsewhere as a value: "open", 0.97, null
  kHeader,  // of HTTP: on one line
  kUrl,     // percent-encoded
};

// {camera}, {watch}, {state}, {previous}, {score} and {time}. A brace that begins no word in braces
// stands for itself.
class MessageTemplate {
 public:
  MessageTemplate() = default;  // of an empty text
  // `what` begins the sentence of an error. Throws Error(kConfig) for another word in braces, and
  // for a text that is to be JSON and is none. The sentence does not show the text.
  MessageTemplate(const std::string& what, std::string_view text, Escaping escaping);

  std::string fill(const MessageFields& fields) const;

 private:
  // A text, then a field.
  struct Part {
    std::string text;
    std::string MessageFields::*member = nullptr;  // null: the score, or none
    bool is_score = false;
    bool is_value = false;  // in JSON, outside of quotes
  };

  void append(const Part& part, const MessageFields& fields, std::string& out) const;

  Escaping escaping_ = Escaping::kNone;
  std::vector<Part> parts_;
};

// Whether a body is meant to be JSON: it begins with a brace or bracket that begins no word in
// braces.
bool looks_like_json(std::string_view text);

}  // namespace lookout
