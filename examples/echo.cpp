// SPDX-License-Identifier: BSD-2-Clause
//
// A server for many clients at once, in C++: connections are set up by events, completions come
// through a channel that a thread sleeps on, and objects are destroyed by the scope they live in.
//
//     echo PORT [CLIENTS]     sends back what comes, to so many clients (default 1), then ends
//     echo PORT SERVER        sends 200 messages, checks what comes back
//
// The server uses the asynchronous calls of librdmacm: one thread, one event channel, any number of
// connections. The client uses the synchronous ones.

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

namespace
{

constexpr std::size_t size = 1024;
constexpr std::uint32_t depth = 16;

struct failure : std::runtime_error {
	explicit failure(const std::string &what)
		: std::runtime_error(what + ": " + std::strerror(errno))
	{
	}
};

void check(bool ok, const char *what)
{
	if (!ok)
		throw failure(what);
}

// Whatever has a function that ends it.
template <auto end> struct deleter {
	template <typename T> void operator()(T *p) const { end(p); }
};
using channel_ptr =
	std::unique_ptr<rdma_event_channel, deleter<rdma_destroy_event_channel>>;
using id_ptr = std::unique_ptr<rdma_cm_id, deleter<rdma_destroy_id>>;
using mr_ptr = std::unique_ptr<ibv_mr, deleter<ibv_dereg_mr>>;
using pd_ptr = std::unique_ptr<ibv_pd, deleter<ibv_dealloc_pd>>;
using cq_ptr = std::unique_ptr<ibv_cq, deleter<ibv_destroy_cq>>;
using completions_ptr =
	std::unique_ptr<ibv_comp_channel, deleter<ibv_destroy_comp_channel>>;
using address_ptr = std::unique_ptr<rdma_addrinfo, deleter<rdma_freeaddrinfo>>;

address_ptr resolve(const char *server, const char *port)
{
	rdma_addrinfo hints{};
	rdma_addrinfo *found = nullptr;

	hints.ai_port_space = RDMA_PS_TCP;
	hints.ai_flags = server == nullptr ? RAI_PASSIVE : 0;
	check(rdma_getaddrinfo(server, port, &hints, &found) == 0, "rdma_getaddrinfo");
	return address_ptr(found);
}

// One client. Every buffer is a receive first, and goes back as a send when it has come.
class connection
{
      public:
	explicit connection(rdma_cm_id *id)
		: id_(id), pd_(ibv_alloc_pd(id->verbs)),
		  completions_(ibv_create_comp_channel(id->verbs)),
		  cq_(ibv_create_cq(id->verbs, 2 * depth, this, completions_.get(), 0)),
		  memory_(depth * size)
	{
		ibv_qp_init_attr attr{};

		check(pd_ && completions_ && cq_, "queues");
		attr.send_cq = attr.recv_cq = cq_.get();
		attr.cap = {depth, depth, 1, 1, 0};
		attr.qp_type = IBV_QPT_RC;
		check(rdma_create_qp(id, pd_.get(), &attr) == 0, "rdma_create_qp");
		mr_.reset(ibv_reg_mr(
			pd_.get(), memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE));
		check(mr_ != nullptr, "ibv_reg_mr");
		for (std::uint64_t i = 0; i < depth; i++)
			receive(i);
		check(ibv_req_notify_cq(cq_.get(), 0) == 0, "ibv_req_notify_cq");
	}

	~connection() { rdma_destroy_qp(id_.get()); }

	connection(const connection &) = delete;
	connection &operator=(const connection &) = delete;

	int fd() const { return completions_->fd; }

	// Arm first, then take what is there: so that nothing is left without an event.
	void on_completions()
	{
		ibv_wc wc[depth];
		void *context = nullptr;
		ibv_cq *cq = nullptr;
		int n;

		check(ibv_get_cq_event(completions_.get(), &cq, &context) == 0,
			"ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
		check(ibv_req_notify_cq(cq, 0) == 0, "ibv_req_notify_cq");
		while ((n = ibv_poll_cq(cq, depth, wc)) > 0)
			for (int i = 0; i < n; i++)
				if (wc[i].status == IBV_WC_SUCCESS)
					wc[i].opcode == IBV_WC_RECV
						? send(wc[i].wr_id, wc[i].byte_len)
						: receive(wc[i].wr_id);
	}

      private:
	ibv_sge piece(std::uint64_t i, std::uint32_t length)
	{
		return {reinterpret_cast<std::uintptr_t>(&memory_[i * size]), length, mr_->lkey};
	}

	void receive(std::uint64_t i)
	{
		ibv_sge sge = piece(i, size);
		ibv_recv_wr wr{i, nullptr, &sge, 1};
		ibv_recv_wr *bad = nullptr;

		check(ibv_post_recv(id_->qp, &wr, &bad) == 0, "ibv_post_recv");
	}

	void send(std::uint64_t i, std::uint32_t length)
	{
		ibv_sge sge = piece(i, length);
		ibv_send_wr wr{};
		ibv_send_wr *bad = nullptr;

		wr.wr_id = i;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.opcode = IBV_WR_SEND;
		wr.send_flags = IBV_SEND_SIGNALED;
		check(ibv_post_send(id_->qp, &wr, &bad) == 0, "ibv_post_send");
	}

	id_ptr id_;
	pd_ptr pd_;
	completions_ptr completions_;
	cq_ptr cq_;
	std::vector<char> memory_;
	mr_ptr mr_;
};

class server
{
      public:
	server(const char *port, unsigned clients) : left_(clients), channel_(rdma_create_event_channel())
	{
		address_ptr where = resolve(nullptr, port);
		rdma_cm_id *id = nullptr;

		check(channel_ != nullptr, "rdma_create_event_channel");
		check(rdma_create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP) == 0, "rdma_create_id");
		listener_.reset(id);
		check(rdma_bind_addr(id, where->ai_src_addr) == 0, "rdma_bind_addr");
		check(rdma_listen(id, 16) == 0, "rdma_listen");
	}

	void run()
	{
		while (left_ > 0) {
			std::vector<pollfd> fds{{channel_->fd, POLLIN, 0}};
			std::vector<rdma_cm_id *> ids{nullptr};

			for (auto &[id, c] : connections_) {
				fds.push_back({c->fd(), POLLIN, 0});
				ids.push_back(id);
			}
			check(poll(fds.data(), fds.size(), -1) > 0 || errno == EINTR, "poll");
			for (std::size_t i = 1; i < fds.size(); i++)
				if (fds[i].revents & POLLIN)
					connections_.at(ids[i])->on_completions();
			if (fds[0].revents & POLLIN)
				on_event();
		}
	}

      private:
	void on_event()
	{
		rdma_cm_event *event = nullptr;

		check(rdma_get_cm_event(channel_.get(), &event) == 0, "rdma_get_cm_event");
		// An event is acknowledged before its identifier goes.
		rdma_cm_id *id = event->id;
		rdma_cm_event_type type = event->event;
		rdma_ack_cm_event(event);

		switch (type) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			accept(id);
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
			connections_.erase(id);
			left_--;
			std::printf("a client is served\n");
			break;
		case RDMA_CM_EVENT_CONNECT_ERROR:
		case RDMA_CM_EVENT_UNREACHABLE:
			connections_.erase(id);
			break;
		default:
			break;
		}
	}

	// A client that has gone meanwhile, or that there is no room for, is no other client's trouble.
	void accept(rdma_cm_id *id)
	{
		rdma_conn_param param{};

		try {
			connections_.emplace(id, std::make_unique<connection>(id));
			check(rdma_accept(id, &param) == 0, "rdma_accept");
		} catch (const failure &e) {
			std::fprintf(stderr, "a client is lost: %s\n", e.what());
			connections_.erase(id);
		}
	}

	unsigned left_;
	channel_ptr channel_;
	id_ptr listener_;
	std::map<rdma_cm_id *, std::unique_ptr<connection>> connections_;
};

void request(const char *port, const char *host)
{
	address_ptr where = resolve(host, port);
	ibv_qp_init_attr attr{};
	rdma_cm_id *id = nullptr;
	std::vector<char> out(size), in(size);
	constexpr unsigned messages = 200;

	attr.cap = {1, 1, 1, 1, 0};
	attr.sq_sig_all = 1;
	check(rdma_create_ep(&id, where.get(), nullptr, &attr) == 0, "rdma_create_ep");
	{
		// What is registered goes before the identifier, which has the protection domain.
		mr_ptr out_mr(rdma_reg_msgs(id, out.data(), size));
		mr_ptr in_mr(rdma_reg_msgs(id, in.data(), size));
		ibv_wc wc{};

		check(out_mr && in_mr, "rdma_reg_msgs");
		check(rdma_connect(id, nullptr) == 0, "rdma_connect");
		for (unsigned n = 0; n < messages; n++) {
			std::size_t length = 1 + n % size;

			for (std::size_t i = 0; i < length; i++)
				out[i] = static_cast<char>(i * 3 + n);
			check(rdma_post_recv(id, nullptr, in.data(), size, in_mr.get()) == 0,
				"rdma_post_recv");
			check(rdma_post_send(id, nullptr, out.data(), length, out_mr.get(), 0) == 0,
				"rdma_post_send");
			check(rdma_get_send_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS, "send");
			check(rdma_get_recv_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS,
				"receive");
			if (wc.byte_len != length || std::memcmp(out.data(), in.data(), length) != 0)
				throw std::runtime_error("what came back is not what was sent");
		}
		rdma_disconnect(id);
	}
	rdma_destroy_ep(id);
	std::printf("%u messages came back as they were sent\n", messages);
}

// "echo PORT 3" is a server for three clients, "echo PORT 192.0.2.1" a client.
bool is_number(const char *s)
{
	return *s != '\0' && s[std::strspn(s, "0123456789")] == '\0';
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 3) {
		std::fprintf(stderr, "usage: %s PORT [CLIENTS|SERVER]\n", argv[0]);
		return 2;
	}
	try {
		if (argc == 3 && !is_number(argv[2]))
			request(argv[1], argv[2]);
		else
			server(argv[1], argc == 3 ? std::strtoul(argv[2], nullptr, 10) : 1).run();
	} catch (const std::exception &e) {
		std::fprintf(stderr, "echo: %s\n", e.what());
		return 1;
	}
	return 0;
}
