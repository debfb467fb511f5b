#include "platform/http/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <list>
#include <string>
#include <thread>
#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/core/thread.h"
#include "platform/http/http_connection.h"

namespace lookout {

namespace asio = boost::asio;

namespace {

using ErrorCode = boost::system::error_code;
using Descriptor = asio::posix::stream_descriptor;

constexpr std::chrono::milliseconds kBeat{100};
constexpr std::chrono::milliseconds kStop{200};
constexpr std::chrono::milliseconds kAcceptAgain{100};  // when the system has no descriptor left
constexpr std::ptrdiff_t kMaxRefused = 16;  // clients that are told so; others are closed
constexpr int kSendBuffer = 128 * 1024;     // the kernel doubles it; more would only age in it

union PeerAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
  sockaddr_storage storage;
};

// What the limits of an address count: an IPv4 address or an IPv6 /64; empty for a Unix socket.
std::string place_of(const PeerAddress& peer) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (peer.any.sa_family == AF_INET) {
    return inet_ntop(AF_INET, &peer.v4.sin_addr, text.data(), text.size());
  }
  if (peer.any.sa_family != AF_INET6) return {};
  in6_addr address = peer.v6.sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address) != 0) {
    return inet_ntop(AF_INET, address.s6_addr + 12, text.data(), text.size());
  }
  std::fill(address.s6_addr + 8, address.s6_addr + sizeof(address), '\0');
  return std::string(inet_ntop(AF_INET6, &address, text.data(), text.size())) + "/64";
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const ListenSockets& sockets, HttpHandler& handler, const HttpLimits& limits,
       HttpMetrics& metrics)
      : handler_(handler),
        limits_(limits),
        metrics_(metrics),
        owner_{handler_, limits_, metrics_, [this] { continue_beating(); },
               [this](HttpConnection* connection) { remove(connection); }} {
    for (const int fd : sockets.fds()) {
      listeners_.emplace_back(io_, fcntl(fd, F_DUPFD_CLOEXEC, 0));
    }
    for (Listener& listener : listeners_) wait_for_client(listener);
    thread_ = start_thread("http", [this] { run(); });
  }

  ~Impl() {
    asio::post(io_, [this] { stop(); });
    thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void wake() {
    if (woken_.exchange(true)) return;
    asio::post(io_, [this] {
      woken_ = false;
      poll();
    });
  }

 private:
  struct Listener {
    Listener(asio::io_context& io, int fd) : socket(io, fd), again(io) {}

    Descriptor socket;
    asio::steady_timer again;  // runs while no client can be accepted
  };

  struct Client {
    std::shared_ptr<HttpConnection> connection;
    std::string place;
    bool refused;
  };

  void run() {
    for (;;) {
      try {
        io_.run();
        return;
      } catch (const std::exception& error) {
        log_error("http: {}", error.what());
      }
    }
  }

  void stop() {
    stopping_ = true;
    listeners_.clear();
    const auto clients = clients_;  // which stop() removes
    for (const Client& client : clients) client.connection->stop();
    end_when_idle();
    stop_timer_.expires_after(kStop);
    stop_timer_.async_wait([this](const ErrorCode&) { end(); });
  }

  void end_when_idle() {
    if (stopping_ && clients_.empty()) end();
  }

  void end() {
    const auto clients = clients_;
    for (const Client& client : clients) client.connection->close();
    io_.stop();
  }

  void poll() {
    try {
      handler_.poll();
    } catch (const std::exception& error) {
      if (last_error_ != error.what()) log_error("http: {}", error.what());
      last_error_ = error.what();
    }
  }

  void continue_beating() {
    if (beating_ || stopping_ || !handler_.is_busy()) return;
    beating_ = true;
    beat_.expires_after(kBeat);
    beat_.async_wait([this](const ErrorCode&) {
      beating_ = false;
      if (stopping_) return;
      poll();
      continue_beating();
    });
  }

  void wait_for_client(Listener& listener) {
    listener.socket.async_wait(Descriptor::wait_read, [this, &listener](const ErrorCode& error) {
      if (!error && !stopping_) accept(listener);
    });
  }

  void accept(Listener& listener) {
    PeerAddress peer{};
    socklen_t size = sizeof(peer);
    const int fd =
        accept4(listener.socket.native_handle(), &peer.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    const bool exhausted =
        fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS);
    if (!exhausted) {
      wait_for_client(listener);  // first: admit() may throw
      if (fd >= 0) admit(fd, peer);
      return;
    }
    listener.again.expires_after(kAcceptAgain);
    listener.again.async_wait([this, &listener](const ErrorCode& error) {
      if (!error && !stopping_) wait_for_client(listener);
    });
  }

  void admit(int fd, const PeerAddress& peer) {
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof(kSendBuffer));
    HttpConnection::Socket socket(io_);
    socket.assign(asio::generic::stream_protocol(peer.any.sa_family, 0), fd);
    const std::string place = place_of(peer);
    const bool room = make_room(place);
    const auto refused = std::count_if(clients_.begin(), clients_.end(),
                                       [](const Client& client) { return client.refused; });
    if (!room && refused >= kMaxRefused) {
      metrics_.count_rejected(HttpConnection::kTooManyClients);
      return;
    }
    auto connection = std::make_shared<HttpConnection>(std::move(socket), place, owner_);
    clients_.push_back({connection, place, !room});
    metrics_.set_clients(clients_.size());
    if (room) {
      connection->start();
    } else {
      connection->refuse();
    }
  }

  // Whether there is room for a client from `place`.
  bool make_room(const std::string& place) {
    const auto of_place = [&place](const Client& client) {
      return !client.refused && client.place == place;
    };
    if (!place.empty() && !make_room_among(of_place, limits_.per_address)) return false;
    return make_room_among([](const Client& client) { return !client.refused; }, limits_.clients);
  }

  // Whether there are fewer than `max` such clients, if need be without the oldest one that has not
  // sent a complete header.
  template <typename Predicate>
  bool make_room_among(const Predicate& counts, std::size_t max) {
    const auto count = std::count_if(clients_.begin(), clients_.end(), counts);
    if (static_cast<std::size_t>(count) < max) return true;
    const auto oldest =
        std::find_if(clients_.begin(), clients_.end(), [&counts](const Client& client) {
          return counts(client) && client.connection->is_waiting();
        });
    if (oldest == clients_.end()) return false;
    const auto connection = oldest->connection;
    metrics_.count_rejected("displaced");
    connection->close();
    return true;
  }

  void remove(HttpConnection* connection) {
    clients_.remove_if(
        [connection](const Client& client) { return client.connection.get() == connection; });
    metrics_.set_clients(clients_.size());
    end_when_idle();
  }

  HttpHandler& handler_;
  const HttpLimits limits_;
  HttpMetrics& metrics_;
  const HttpConnection::Owner owner_;
  asio::io_context io_{1};
  const asio::executor_work_guard<asio::io_context::executor_type> work_ =
      asio::make_work_guard(io_);
  std::list<Listener> listeners_;
  asio::steady_timer beat_{io_};
  asio::steady_timer stop_timer_{io_};
  std::list<Client> clients_;  // in the order of their coming
  bool beating_ = false;
  std::string last_error_;  // the same one again is not logged
  bool stopping_ = false;
  std::atomic<bool> woken_ = false;
  std::thread thread_;
};

HttpServer::HttpServer(const ListenSockets& sockets, HttpHandler& handler, const HttpLimits& limits,
                       HttpMetrics& metrics)
    : impl_(std::make_unique<Impl>(sockets, handler, limits, metrics)) {}

HttpServer::~HttpServer() = default;

void HttpServer::wake() { impl_->wake(); }

}  // namespace lookout
