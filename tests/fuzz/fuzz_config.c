/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A configuration as somebody may have edited it. */

#include <assert.h>
#include <stdint.h>

#include "target/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct faults faults = { .n = 0 };
	json_t *doc = json_loadb((const char *)data, size,
				 JSON_REJECT_DUPLICATES, NULL);
	struct conf *conf;

	if (!doc)
		return 0;
	conf = conf_read(doc, NULL, "/nowhere", &faults);
	assert(!conf == !!faults.n);
	faults_free(&faults);
	conf_free(conf);
	json_decref(doc);
	return 0;
}
