// A blocking client for tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace lookout {

struct HttpAnswer {
  int status = 0;                              // 0: none came
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// A connection to 127.0.0.1. Calls wait for the server, at most half a minute.
class HttpClient {
 public:
  // `receive_buffer`: in bytes; 0: the system's. `address`: from which the client comes.
  explicit HttpClient(std::uint16_t port, int receive_buffer = 0,
                      const char* address = "127.0.0.1");
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Returns false when the connection is closed.
  bool send(const std::string& text) const;
  // Nothing more will be sent.
  void end_sending() const;
  // `headers`: lines with CRLF, instead of a Host of this machine.
  HttpAnswer get(const std::string& target, const std::string& headers = "Host: localhost\r\n",
                 const std::string& method = "GET");
  // Without a body when `has_body` is false, or where its length is not told.
  HttpAnswer read_answer(bool has_body = true);
  // Reads until `text` came; returns what came up to its end, and nothing when the connection ended
  // before.
  std::string read_until(const std::string& text);
  std::string read_bytes(std::size_t count);
  // Reads until the server ends the connection.
  std::string read_all();
  // What came so far.
  std::string read_now() const;
  // Forgets what came so far, and returns whether the connection is still open.
  bool is_open() const;

 private:
  bool receive();

  int fd_ = -1;
  std::string buffer_;
};

// One request over a connection of its own.
HttpAnswer http_get(std::uint16_t port, const std::string& target,
                    const std::string& headers = "Host: localhost\r\n",
                    const std::string& method = "GET");

}  // namespace lookout
