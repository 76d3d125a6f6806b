/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Pools of a worker: outgoing PDUs, tasks, batches to send.  They grow by slabs
 * and give nothing back before the worker ends, so that no command costs a
 * call of malloc().
 */

#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "target/conn_int.h"

struct slab {
	struct slab	*next;
	_Alignas(16) char mem[];
};

static void pool_grow(struct pool *p)
{
	struct slab *s = malloc(sizeof(*s) + p->size * p->per_slab);
	unsigned i;

	if (!s)
		return;
	s->next = p->slabs;
	p->slabs = s;
	for (i = 0; i < p->per_slab; i++)
		pool_put(p, s->mem + p->size * i);
}

void *pool_get(struct pool *p)
{
	void *obj;

	if (!p->free)
		pool_grow(p);
	obj = p->free;
	if (obj)
		memcpy(&p->free, obj, sizeof(void *));
	return obj;
}

void pool_put(struct pool *p, void *obj)
{
	memcpy(obj, &p->free, sizeof(void *));
	p->free = obj;
}

static void pool_init(struct pool *p, size_t size, unsigned per_slab)
{
	*p = (struct pool){
		.size		= round_up(size, 16),
		.per_slab	= per_slab,
	};
}

static void pool_fini(struct pool *p)
{
	while (p->slabs) {
		struct slab *s = p->slabs;

		p->slabs = s->next;
		free(s);
	}
	p->free = NULL;
}

void pdu_pool_init(struct worker *w)
{
	struct pdu_pool *pool;

	if (w->pdus)
		return;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return;
	pool->worker = w;
	pool_init(&pool->pdus, sizeof(struct pdu_out), 64);
	pool_init(&pool->tasks, sizeof(struct task), 32);
	pool_init(&pool->batches, sizeof(struct tx_batch), 2);
	list_init(&pool->busy);
	etimer_init(&pool->sweep, rx_sweep);
	w->pdus = pool;
}

void pdu_pool_fini(struct worker *w)
{
	struct pdu_pool *pool = w->pdus;

	if (!pool)
		return;
	assert(list_empty(&pool->busy));
	etimer_stop(&pool->sweep);
	pool_fini(&pool->pdus);
	pool_fini(&pool->tasks);
	pool_fini(&pool->batches);
	free(pool);
	w->pdus = NULL;
}

struct pdu_out *pdu_new(struct conn *c)
{
	struct pdu_out *p = pool_get(&c->worker->pdus->pdus);

	if (!p) {
		conn_fail(c);
		return NULL;
	}
	memset(p, 0, sizeof(*p));
	list_init(&p->link);
	p->conn = c;
	return p;
}

void pdu_free(struct pdu_out *p)
{
	struct worker *w = p->conn->worker;

	assert(!list_linked(&p->link));
	if (p->owned)
		worker_buf_put(w, p->data, p->owned);
	pool_put(&w->pdus->pdus, p);
}
