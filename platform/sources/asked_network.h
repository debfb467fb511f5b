// The functions of libc with which FFmpeg uses the network and reads the certificates that this
// system trusts and random bytes, for lookout-stream-decoder, which may do neither: lookout does
// the one for it, and these two files are opened before.
//
// The program defines these functions (socket, connect, bind, sendto, getaddrinfo, freeaddrinfo,
// fopen, open64), which the dynamic loader takes for those of libc in all libraries. They ask
// lookout (StreamNetwork) through kStreamNetwork, and wait for its answer; any thread.
#pragma once

namespace lookout {

// The file that Debian's GnuTLS takes certificates from.
inline const char* const kTrustedCertificates = "/etc/ssl/certs/ca-certificates.crt";

// Without them FFmpeg makes its own of the times that a busy loop takes.
inline const char* const kRandomBytes = "/dev/urandom";

// From now on the functions ask, and fopen() and open64() know one file each. Called once, by the
// only thread, before the process gives up its rights.
void ask_for_network();

}  // namespace lookout
