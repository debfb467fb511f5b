// An HTTP/1.1 server with limits: one thread for all clients.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "platform/http/http_message.h"
#include "platform/http/http_metrics.h"
#include "platform/http/listen_sockets.h"

namespace lookout {

struct HttpLimits {
  std::size_t clients = 64;
  std::size_t per_address = 16;  // of an IPv4 address or an IPv6 /64; Unix sockets have no limit
  std::chrono::milliseconds header{5000};        // for a complete header
  std::chrono::milliseconds keep_alive{15'000};  // between an answer and the next request
  std::chrono::milliseconds answer{30'000};      // for writing an answer
  std::chrono::milliseconds part{10'000};        // for writing a part of a stream
  std::chrono::milliseconds body{30'000};        // for a request's body
  std::size_t upload = 8 << 20;                  // bytes of a request's body
  std::size_t uploads = 32 << 20;  // bytes of all bodies in memory; a quarter of one address
};

// Headers have at most 8 KB; bodies are read of POST, PUT, PATCH and DELETE alone, and take memory
// as they arrive. All deadlines are absolute: a client that sends or reads a byte now and then is
// cut off, too. When all places are taken, the oldest client without a complete request gives up
// its own.
class HttpServer {
 public:
  // Starts the thread "http", which also counts in `metrics`. All but `limits` outlive this. Throws
  // Error(kPermission) when the system allows no further thread.
  HttpServer(const ListenSockets& sockets, HttpHandler& handler, const HttpLimits& limits,
             HttpMetrics& metrics);
  // Ends streams and idle clients at once, and answers under way after 200 ms.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Calls handler.poll() soon. Any thread.
  void wake();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lookout
