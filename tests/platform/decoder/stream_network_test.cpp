#include "platform/decoder/stream_network.h"

#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "platform/decoder/decoder_child.h"
#include "tests/support/loopback_listener.h"

namespace lookout {
namespace {

constexpr int kNoSocket = -1;

class StreamNetworkTest : public testing::Test {
 protected:
  // What the network answers, and whether it brought a socket, which is closed.
  struct Reply {
    NetworkAnswer answer{};
    bool has_socket = false;
  };

  Reply ask(StreamNetwork& network, const NetworkRequest& request) const {
    EXPECT_EQ(send(sockets_.theirs(), &request, sizeof request, 0), sizeof request);
    EXPECT_TRUE(network.serve(sockets_.ours()));
    Reply reply;
    iovec bytes{&reply.answer, sizeof reply.answer};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> rights{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = rights.data();
    message.msg_controllen = rights.size();
    EXPECT_EQ(recvmsg(sockets_.theirs(), &message, MSG_DONTWAIT), sizeof reply.answer);
    if (const cmsghdr* header = CMSG_FIRSTHDR(&message)) {
      int fd = kNoSocket;
      std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
      reply.has_socket = true;
      close(fd);
    }
    return reply;
  }

  static NetworkRequest place(NetworkRequestKind kind, std::uint16_t port,
                              std::uint32_t machine = INADDR_LOOPBACK) {
    NetworkRequest request{};
    request.kind = kind;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(machine);
    request.address.size = sizeof address;
    std::memcpy(&request.address.bytes, &address, sizeof address);
    return request;
  }

  static NetworkRequest socket_of(int family, int type) {
    NetworkRequest request{};
    request.kind = NetworkRequestKind::kSocket;
    request.family = family;
    request.type = type;
    return request;
  }

  static NetworkRequest name(const std::string& text) {
    NetworkRequest request{};
    request.kind = NetworkRequestKind::kResolve;
    text.copy(request.text.data(), request.text.size() - 1);
    return request;
  }

  bool is_connected(StreamNetwork& network, std::uint16_t port) const {
    const Reply reply = ask(network, place(NetworkRequestKind::kConnect, port));
    EXPECT_TRUE(reply.has_socket || reply.answer.error == EACCES) << reply.answer.error;
    return reply.has_socket;
  }

  SocketPair sockets_;
};

TEST_F(StreamNetworkTest, AnOpenStreamGetsNoConnectionAnyMore) {
  const LoopbackListener listener;
  StreamNetwork network(false);
  EXPECT_TRUE(is_connected(network, listener.port()));
  network.settle(true);
  EXPECT_FALSE(is_connected(network, listener.port()));
}

TEST_F(StreamNetworkTest, AnOpenFileGetsThoseToTheSamePlace) {
  const LoopbackListener listener;
  const LoopbackListener other;
  StreamNetwork network(false);
  EXPECT_TRUE(is_connected(network, listener.port()));
  network.settle(false);
  EXPECT_TRUE(is_connected(network, listener.port()));
  EXPECT_FALSE(is_connected(network, other.port()));
}

TEST_F(StreamNetworkTest, PlacesAreFewAlsoBeforeTheVideoIsOpen) {
  StreamNetwork network(false);
  constexpr std::uint16_t kPlaces = 64;
  for (std::uint16_t port = 1; port <= kPlaces; ++port) EXPECT_TRUE(is_connected(network, port));
  EXPECT_FALSE(is_connected(network, kPlaces + 1));
  EXPECT_TRUE(is_connected(network, kPlaces)) << "again";
  constexpr int kNames = 32;
  for (int i = 1; i <= kNames; ++i) {
    EXPECT_EQ(ask(network, name("127.0.0." + std::to_string(i))).answer.error, 0);
  }
  EXPECT_EQ(ask(network, name("127.0.1.1")).answer.error, EAI_FAIL);
}

TEST_F(StreamNetworkTest, OnlyNamesFromBeforeAreLookedUpLater) {
  StreamNetwork network(false);
  const Reply found = ask(network, name("127.0.0.1"));
  EXPECT_EQ(found.answer.error, 0);
  EXPECT_GT(found.answer.count, 0);
  EXPECT_EQ(found.answer.found[0].family, AF_INET);
  network.settle(true);
  EXPECT_EQ(ask(network, name("127.0.0.1")).answer.error, 0);
  EXPECT_EQ(ask(network, name("127.0.0.2")).answer.error, EAI_FAIL);
}

TEST_F(StreamNetworkTest, OnlySocketsOfTheInternetAreMade) {
  StreamNetwork network(false);
  EXPECT_TRUE(ask(network, socket_of(AF_INET, SOCK_STREAM)).has_socket);
  for (const auto& [family, type] : {std::pair(AF_UNIX, SOCK_STREAM),
                                     {AF_NETLINK, SOCK_RAW},
                                     {AF_INET, SOCK_RAW},
                                     {AF_PACKET, SOCK_DGRAM},
                                     {AF_INET, SOCK_DGRAM}}) {
    const Reply reply = ask(network, socket_of(family, type));
    EXPECT_FALSE(reply.has_socket) << family << " " << type;
    EXPECT_EQ(reply.answer.error, EACCES);
  }
  NetworkRequest local = place(NetworkRequestKind::kConnect, 1);
  local.address.bytes.ss_family = AF_UNIX;
  EXPECT_EQ(ask(network, local).answer.error, EACCES);
}

TEST_F(StreamNetworkTest, DatagramsGoToMachinesThatItIsConnectedTo) {
  const LoopbackListener listener;
  StreamNetwork network(true);
  const Reply made = ask(network, socket_of(AF_INET, SOCK_DGRAM));
  ASSERT_TRUE(made.has_socket);
  NetworkRequest bind = place(NetworkRequestKind::kBind, 0);
  bind.id = made.answer.id;
  EXPECT_EQ(ask(network, bind).answer.error, 0);
  NetworkRequest datagram = place(NetworkRequestKind::kSend, listener.port());
  datagram.id = made.answer.id;
  datagram.size = 4;
  EXPECT_EQ(ask(network, datagram).answer.error, EACCES) << "not connected yet";
  EXPECT_TRUE(is_connected(network, listener.port()));
  EXPECT_EQ(ask(network, datagram).answer.error, 0);
  datagram.size = static_cast<int>(datagram.text.size()) + 1;
  EXPECT_EQ(ask(network, datagram).answer.error, EACCES);
  datagram.size = 4;
  datagram.id = made.answer.id + 1;
  EXPECT_EQ(ask(network, datagram).answer.error, EBADF);
}

TEST_F(StreamNetworkTest, WhatIsNoRequestIsNotServed) {
  StreamNetwork network(true);
  EXPECT_FALSE(network.serve(sockets_.ours())) << "nothing waits";
  NetworkRequest wrong = name("127.0.0.1");
  wrong.text.fill('x');
  NetworkRequest endless = name("127.0.0.1");
  endless.service.fill('1');
  NetworkRequest unknown{};
  unknown.kind = NetworkRequestKind{99};
  for (const NetworkRequest& request : {wrong, endless, unknown}) {
    EXPECT_EQ(send(sockets_.theirs(), &request, sizeof request, 0), sizeof request);
    EXPECT_FALSE(network.serve(sockets_.ours()));
  }
  EXPECT_EQ(send(sockets_.theirs(), "short", 5, 0), 5);
  EXPECT_FALSE(network.serve(sockets_.ours()));
}

}  // namespace
}  // namespace lookout
