// Counts what a program executes in QEMU's user mode: a TCG plug-in for QEMU 7.2, whose interface
// https://www.qemu.org/docs/master/devel/tcg-plugins.html describes. emulator.py builds, runs and
// reads it.
//
//   qemu-aarch64 -plugin ./tcg_count.so,out=FILE ... PROGRAM
//
// FILE gets the process's /proc/self/maps, an empty line, and a line for each block of instructions
// that was translated and ran: its address in the host's memory (hexadecimal), the number of its
// instructions, and how often it was executed.
//
// A program that calls syscall(20000, N), a number that no kernel has, gets the same in FILE.N at
// that moment: what happened between two of these is counted without start and end.
//
// Blocks are counted in a callback, atomically: the counters that QEMU adds to without one lose
// counts when several threads of the program run at once.
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The part of qemu-plugin.h that is used here; Debian does not package that header.
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { QEMU_PLUGIN_CB_NO_REGS };
typedef void (*translated_callback)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*executed_callback)(unsigned vcpu, void *data);
typedef void (*exit_callback)(qemu_plugin_id_t id, void *data);
typedef void (*syscall_callback)(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1,
                                 uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                                 uint64_t a7, uint64_t a8);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated_callback callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, executed_callback callback,
                                          int flags, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_callback callback, void *data);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, syscall_callback callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *instruction);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

struct block {
  uintptr_t address;  // of its first instruction, in the host's memory
  size_t instructions;
  _Atomic uint64_t executions;
  struct block *next;
};

static _Atomic(struct block *) blocks;
static const char *out = "tcg_count.txt";

static void executed(unsigned vcpu, void *data) {
  (void)vcpu;
  struct block *block = data;
  atomic_fetch_add_explicit(&block->executions, 1, memory_order_relaxed);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
  (void)id;
  struct block *block = calloc(1, sizeof *block);
  if (block == NULL) abort();
  block->address = (uintptr_t)qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0));
  block->instructions = qemu_plugin_tb_n_insns(tb);
  block->next = atomic_load(&blocks);
  while (!atomic_compare_exchange_weak(&blocks, &block->next, block)) {
  }
  qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS, block);
}

static void write_counts(const char *path) {
  FILE *file = fopen(path, "w");
  FILE *maps = fopen("/proc/self/maps", "r");
  if (file == NULL || maps == NULL) {
    perror(path);
    abort();
  }
  for (int byte; (byte = getc(maps)) != EOF;) putc(byte, file);
  putc('\n', file);
  for (struct block *block = atomic_load(&blocks); block != NULL; block = block->next) {
    const uint64_t executions = atomic_load(&block->executions);
    if (executions == 0) continue;
    fprintf(file, "%lx %zu %lu\n", (unsigned long)block->address, block->instructions,
            (unsigned long)executions);
  }
  fclose(maps);
  fclose(file);
}

static void ended(qemu_plugin_id_t id, void *data) {
  (void)id;
  (void)data;
  write_counts(out);
}

static void called(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                   uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  enum { kMark = 20000 };
  (void)id, (void)vcpu, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
  if (number != kMark) return;
  char path[4096];
  snprintf(path, sizeof path, "%s.%lu", out, (unsigned long)a1);
  write_counts(path);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const void *info, int argc,
                                                               char **argv) {
  (void)info;
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "out=", 4) == 0) out = strdup(argv[i] + 4);
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_vcpu_syscall_cb(id, called);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
