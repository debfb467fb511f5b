// The functions of libc with which FFmpeg uses the network and reads the certificates that this
// system trusts, for lookout-stream-decoder, which may do neither: lookout does the one for it, and
// the file of certificates is opened before.
//
// The program defines these functions (socket, connect, bind, sendto, getaddrinfo, freeaddrinfo,
// fopen), which the dynamic loader takes for those of libc in all libraries. They ask lookout
// (StreamNetwork) through kStreamNetwork, and wait for its answer; any thread.
#pragma once

namespace lookout {

// The file that Debian's GnuTLS takes certificates from.
inline const char* const kTrustedCertificates = "/etc/ssl/certs/ca-certificates.crt";

// From now on the functions ask, and fopen() knows that file alone. Called once, by the only
// thread, before the process gives up its rights.
void ask_for_network();

}  // namespace lookout
