// What is sent with each change, and where: the user's texts, checked and taken apart.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/webhook/message_template.h"
#include "platform/webhook/webhook_transport.h"

namespace lookout {

// As the user writes it. Names of keys in the sentences are those of [webhook].
struct WebhookText {
  std::string url;
  bool url_is_secret = false;  // of a file: it may have a password
  std::string method = "POST";
  std::vector<std::string> headers;         // "Name: value"
  std::vector<std::string> secret_headers;  // likewise, without placeholders; never shown
  std::string body;                         // empty: the camera, the watch and the state
  std::vector<std::string> form;            // "name: value"
  std::string picture;                      // empty: none; "body"; else the field of the form
  std::vector<std::string> states;          // that are told of; empty: all
};

enum class WebhookPicture { kNone, kBody, kField };

struct WebhookSettings {
  MessageTemplate url;
  std::string host;  // HOST or HOST:PORT, all of the URL that logs show
  std::string method;
  std::vector<MessageTemplate> headers;
  std::vector<std::string> secret_headers;
  MessageTemplate body;
  std::optional<MessageTemplate> body_of_watch;  // in place of body for a watch that has a name
  std::vector<std::pair<std::string, MessageTemplate>> form;
  WebhookPicture picture = WebhookPicture::kNone;
  std::string picture_field;
  std::vector<std::string> states;
  WebhookConnection connection;  // as it was; not of the texts
};

// Throws Error(kConfig) for a URL that is none of HTTP, a header or field that is none, a
// placeholder that is unknown, JSON that is none, and keys that do not go together. No sentence has
// a secret. Pure: nothing is looked up.
WebhookSettings parse_webhook(const WebhookText& text);

// The request for a change. `jpeg`: its picture; empty when none is sent.
WebhookRequest make_request(const WebhookSettings& settings, const MessageFields& fields,
                            std::string jpeg);

}  // namespace lookout
