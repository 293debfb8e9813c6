/* SPDX-License-Identifier: MIT */
/*
 * Kinds with several processes: pipes, sockets, shared memory, children that end.
 */
#include "tests/workloads/delays/plant.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

BURN_FUNCTION(own_part);
BURN_FUNCTION(filter);
BURN_FUNCTION(sort_lines);
BURN_FUNCTION(read_block);
BURN_FUNCTION(parse_block);
BURN_FUNCTION(pack_block);
BURN_FUNCTION(store_block);
BURN_FUNCTION(prepare);
BURN_FUNCTION(handle);
BURN_FUNCTION(convert);
BURN_FUNCTION(compile);
BURN_FUNCTION(assemble);
BURN_FUNCTION(link_objects);

/* pipes: main runs 1 ms -> process 'filter' 1 ms -> process 'sorter' 3 ms -> back to main. */
static struct {
        int to_filter[2], to_sorter[2], back[2];
} pipes;

static void pipes_filter(void *unused)
{
        (void)unused;
        close(pipes.to_filter[1]);
        while (receive_byte(pipes.to_filter[0])) {
                burn_us(filter, 1000);
                send_byte(pipes.to_sorter[1]);
        }
}

static void pipes_sorter(void *unused)
{
        (void)unused;
        close(pipes.to_filter[1]);
        close(pipes.to_sorter[1]);
        while (receive_byte(pipes.to_sorter[0])) {
                burn_us(sort_lines, 3000);
                send_byte(pipes.back[1]);
        }
}

static void run_pipes(int n)
{
        plant_pipe(pipes.to_filter);
        plant_pipe(pipes.to_sorter);
        plant_pipe(pipes.back);
        plant_process("filter", pipes_filter, NULL);
        plant_process("sorter", pipes_sorter, NULL);
        close(pipes.to_sorter[1]);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("query");
                burn_us(own_part, 1000);
                send_byte(pipes.to_filter[1]);
                receive_byte(pipes.back[0]);
        }
        close(pipes.to_filter[1]);
        plant_reap();
}

/*
 * pipeline: four processes, as in `reader | parser | packer | main`, with pipes of one block.  The packer, 3
 * ms a block, is the slowest: those before it wait until there is room, main until there is a block.
 */
#define BLOCK_BYTES 4096
static struct pipeline_stage {
        void (*burn)(uint64_t n_rounds);
        double us;
        int n_blocks; /* of the first stage */
        int in, out;
} stages[3] = { { read_block, 300, 0, -1, -1 },
                { parse_block, 1000, 0, -1, -1 },
                { pack_block, 3000, 0, -1, -1 } };

static int take_block(int fd)
{
        char block[BLOCK_BYTES];
        size_t n_bytes = 0;

        while (n_bytes < sizeof(block)) {
                ssize_t n = read(fd, block + n_bytes, sizeof(block) - n_bytes);

                if (n <= 0)
                        return 0;
                n_bytes += (size_t)n;
        }
        return 1;
}

static void give_block(int fd)
{
        static const char block[BLOCK_BYTES];

        if (write(fd, block, sizeof(block)) != BLOCK_BYTES)
                plant_fail("write");
}

static void run_stage(void *stage)
{
        const struct pipeline_stage *s = stage;

        if (s->in < 0) {
                for (int i = 0; i < s->n_blocks; i++) {
                        burn_us(s->burn, s->us);
                        give_block(s->out);
                }
                return;
        }
        while (take_block(s->in)) {
                burn_us(s->burn, s->us);
                give_block(s->out);
        }
}

static void run_pipeline(int n)
{
        static const char *const names[] = { "reader", "parser", "packer" };
        int in = -1, fds[2];

        stages[0].n_blocks = n;
        for (int i = 0; i < 3; i++) {
                plant_pipe(fds);
                fcntl(fds[1], F_SETPIPE_SZ, BLOCK_BYTES);
                stages[i].in = in;
                stages[i].out = fds[1];
                plant_process(names[i], run_stage, &stages[i]);
                close(fds[1]);
                if (in >= 0)
                        close(in);
                in = fds[0];
        }
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("block");
                take_block(in);
                burn_us(store_block, 500);
        }
        plant_reap();
}

/* unixsock, tcp, tcppoll, udp: main prepares 1 ms, process 'server' handles its call for 3 ms. */
static void serve(void *socket)
{
        int fd = *(int *)socket;

        while (receive_byte(fd)) {
                burn_us(handle, 3000);
                send_byte(fd);
        }
}

static void call_server(int n, int fd)
{
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("call");
                burn_us(prepare, 1000);
                send_byte(fd);
                receive_byte(fd);
        }
}

static void run_unixsock(int n)
{
        int fds[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
                plant_fail("socketpair");
        plant_process("server", serve, &fds[1]);
        close(fds[1]);
        call_server(n, fds[0]);
        shutdown(fds[0], SHUT_WR);
        plant_reap();
}

/* A socket at a free port of the loopback device; @ret_address: its address. */
static int open_loopback(int type, struct sockaddr_in *ret_address)
{
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t n_bytes = sizeof(address);
        int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

        if (fd < 0 || bind(fd, (struct sockaddr *)&address, n_bytes) != 0 ||
            getsockname(fd, (struct sockaddr *)&address, &n_bytes) != 0)
                plant_skip("there is no loopback device");
        *ret_address = address;
        return fd;
}

static void connect_to(int fd, const struct sockaddr_in *address)
{
        if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0)
                plant_fail("connect");
}

static void serve_tcp(void *listener)
{
        int fd = accept4(*(int *)listener, NULL, NULL, SOCK_CLOEXEC);
        int one = 1;

        if (fd < 0)
                plant_fail("accept4");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        serve(&fd);
}

/* To a process that serves it. */
static int open_connection(void)
{
        struct sockaddr_in address;
        int listener = open_loopback(SOCK_STREAM, &address);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int one = 1;

        if (listen(listener, 1) != 0)
                plant_fail("listen");
        plant_process("server", serve_tcp, &listener);
        connect_to(fd, &address);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        return fd;
}

static void run_tcp(int n)
{
        int fd = open_connection();

        call_server(n, fd);
        shutdown(fd, SHUT_WR);
        plant_reap();
}

/* tcppoll: main waits for the answer with a timeout of a second, which never passes: no timer ends it. */
static void run_tcppoll(int n)
{
        int fd = open_connection();
        struct pollfd answer = { .fd = fd, .events = POLLIN };

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("call");
                burn_us(prepare, 1000);
                send_byte(fd);
                if (poll(&answer, 1, 1000) != 1)
                        plant_fail("poll");
                receive_byte(fd);
        }
        shutdown(fd, SHUT_WR);
        plant_reap();
}

/* A datagram of no byte ends it. */
static void run_udp(int n)
{
        struct sockaddr_in own, peer;
        int fd = open_loopback(SOCK_DGRAM, &own), server = open_loopback(SOCK_DGRAM, &peer);

        connect_to(fd, &peer);
        connect_to(server, &own);
        plant_process("server", serve, &server);
        close(server);
        call_server(n, fd);
        if (send(fd, "", 0, 0) != 0)
                plant_fail("send");
        plant_reap();
}

/* shared: the same with semaphores in memory that two processes share. */
static struct shared_calls {
        sem_t asked, answered;
        int n;
} * shared;

static void serve_shared(void *unused)
{
        (void)unused;
        for (int i = 0; i < shared->n; i++) {
                sem_wait(&shared->asked);
                burn_us(handle, 3000);
                sem_post(&shared->answered);
        }
}

static void run_shared(int n)
{
        shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
                plant_fail("mmap");
        shared->n = n;
        sem_init(&shared->asked, 1, 0);
        sem_init(&shared->answered, 1, 0);
        plant_process("server", serve_shared, NULL);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("call");
                burn_us(prepare, 1000);
                sem_post(&shared->asked);
                sem_wait(&shared->answered);
        }
        plant_reap();
}

/* child: main runs 2 ms and starts a child, which runs 8 ms and ends; its end is what main waits for. */
static void run_convert(void *unused)
{
        (void)unused;
        burn_us(convert, 8000);
}

static void run_child(int n)
{
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("job");
                burn_us(own_part, 2000);
                plant_process("child", run_convert, NULL);
                plant_reap();
        }
}

/* spawn: main runs 1 ms; the child is another program: this one with --convert, 8 ms in convert_file(). */
static void run_spawn(int n)
{
        char name[] = "w_delays", option[] = "--convert", rounds[32];
        char *const arguments[] = { name, option, rounds, NULL };
        char *const environment[] = { NULL };

        snprintf(rounds, sizeof(rounds), "%.3f", plant_rounds_per_us());
        for (int i = 0; i < n; i++) {
                pid_t pid;

                HYPROF_ZONE("job");
                burn_us(own_part, 1000);
                if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environment) != 0)
                        plant_fail("posix_spawn");
                plant_reap();
        }
}

/*
 * builds: main starts 'make', which starts three programs, one after the other: 'cc' runs 6 ms, 'as' 3 ms,
 * 'ld' 1 ms.  The time before the birth of a process belongs to its parent.
 */
static void run_compiler(void *unused)
{
        (void)unused;
        burn_us(compile, 6000);
}

static void run_assembler(void *unused)
{
        (void)unused;
        burn_us(assemble, 3000);
}

static void run_linker(void *unused)
{
        (void)unused;
        burn_us(link_objects, 1000);
}

static void run_make(void *unused)
{
        (void)unused;
        plant_process("cc", run_compiler, NULL);
        plant_reap();
        plant_process("as", run_assembler, NULL);
        plant_reap();
        plant_process("ld", run_linker, NULL);
        plant_reap();
}

static void run_builds(int n)
{
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("build");
                plant_process("make", run_make, NULL);
                plant_reap();
        }
}

const struct delay_kind process_delays[] = {
        { "pipes", 220, run_pipes },
        { "pipeline", 350, run_pipeline },
        { "unixsock", 280, run_unixsock },
        { "tcp", 280, run_tcp },
        { "tcppoll", 280, run_tcppoll },
        { "udp", 280, run_udp },
        { "shared", 280, run_shared },
        { "child", 100, run_child },
        { "spawn", 100, run_spawn },
        { "builds", 80, run_builds },
        { NULL, 0, NULL },
};
