// SPDX-License-Identifier: BSD-2-Clause
//
// Collective operations of gloo over its ibverbs transport, between two processes, each of which
// looks at what it has.
//
//     gloo RANK DIRECTORY [INDEX]
//
// RANK is 0 or 1. In DIRECTORY, which is empty, the two find each other; INDEX is that of the GID.
// The transport tells by Sends with Immediate where it may be written to, and writes by Writes with
// Immediate.
//
// Nothing of gloo's is destroyed. Its operations do not wait until their last message is sent, and
// a buffer that is destroyed before ends the process ("Destructing buffer expecting completions").
// So does a queue pair of which its transport's thread has yet to see an event.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gloo/allgather_ring.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>

namespace
{

constexpr int ranks = 2;
constexpr int rounds = 20;
constexpr std::size_t lengths[] = {2, 1000, 1 << 20};

using context_ptr = std::shared_ptr<gloo::Context>;
using values = std::vector<float>;

// Another one in each rank, round and place; small enough for a float to be exact.
float value(int rank, int round, std::size_t i)
{
	return static_cast<float>(i % 8191 * 2) + static_cast<float>(rank * 5 + round * 3);
}

// Operations, over and over with other values. What comes of them is in `got`.
class operations
{
	gloo::Algorithm &operation;
	gloo::BarrierAllToAll &barrier;
	values &own, &got;
	int rank;

      public:
	operations(gloo::Algorithm &a, gloo::BarrierAllToAll &b, values &in, values &out, int r)
	    : operation(a), barrier(b), own(in), got(out), rank(r)
	{
	}

	// @due: (round, i)
	template <typename function> void check(const char *what, function due)
	{
		for (int round = 0; round < rounds; round++) {
			for (std::size_t i = 0; i < own.size(); i++)
				own[i] = value(rank, round, i);
			operation.run();
			for (std::size_t i = 0; i < got.size(); i++)
				if (got[i] != due(round, i))
					throw std::runtime_error(std::string(what) + ": [" +
								 std::to_string(i) + "] is " +
								 std::to_string(got[i]) + ", not " +
								 std::to_string(due(round, i)));
			// Until then the peer's next operation must not write here.
			barrier.run();
		}
	}
};

void operate(const context_ptr &context)
{
	auto &barrier = *new gloo::BarrierAllToAll(context);
	int rank = context->rank;

	auto first = [](int round, std::size_t i) { return value(0, round, i); };
	auto sum = [](int round, std::size_t i) { return value(0, round, i) + value(1, round, i); };

	for (std::size_t length : lengths) {
		int n = static_cast<int>(length);
		auto &v = *new values(length), &all = *new values(length * ranks);
		auto either = [length](int round, std::size_t i) {
			return value(i < length ? 0 : 1, round, i % length);
		};

		auto &broadcast = *new gloo::BroadcastOneToAll<float>(context, {v.data()}, n);
		operations(broadcast, barrier, v, v, rank).check("broadcast", first);
		auto &ring = *new gloo::AllreduceRingChunked<float>(context, {v.data()}, n);
		operations(ring, barrier, v, v, rank).check("allreduce by a ring", sum);
		auto &halving = *new gloo::AllreduceHalvingDoubling<float>(context, {v.data()}, n);
		operations(halving, barrier, v, v, rank).check("allreduce by halves", sum);
		auto &gather = *new gloo::AllgatherRing<float>(context, {v.data()}, all.data(), n);
		operations(gather, barrier, v, all, rank).check("allgather", either);
		std::printf("%d times %zu values: broadcast, allreduce and allgather are right\n",
			rounds, length);
	}
}

// Neither leaves before the other has all. From then on the transport's thread looks at no
// completion, and so at none that tells that the peer is gone.
void end_together(const context_ptr &context, gloo::rendezvous::FileStore &store)
{
	auto key = [](int rank) { return "done " + std::to_string(rank); };

	context->getPair(1 - context->rank)->setSync(true, true);
	store.set(key(context->rank), {'.'});
	store.get(key(1 - context->rank));
}

} // namespace

int main(int argc, char **argv)
{
	int status = 0;

	if (argc != 3 && argc != 4) {
		std::printf("usage: gloo RANK DIRECTORY [INDEX]\n");
		return 2;
	}
	try {
		auto &store = *new gloo::rendezvous::FileStore(argv[2]);
		auto &device = *new std::shared_ptr<gloo::transport::Device>(
			gloo::transport::ibverbs::CreateDevice(
				{"", 1, argc == 4 ? std::atoi(argv[3]) : 0}));
		auto context =
			std::make_shared<gloo::rendezvous::Context>(std::atoi(argv[1]), ranks);

		context->connectFullMesh(store, device);
		operate(context);
		end_together(context, store);
	} catch (const std::exception &e) {
		std::printf("gloo: %s\n", e.what());
		status = 1;
	}
	std::fflush(stdout);
	std::_Exit(status);
}
