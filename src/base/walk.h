/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file walk.h
 * Walks over objects that come and go: the caller makes step after step under the lock, and may
 * release the lock between most of them. What is there all the time is found once.
 */
#ifndef BASE_WALK_H
#define BASE_WALK_H

/** What a step found. */
enum walk {
	WALK_END,  /**< there are no more */
	WALK_NONE, /**< nothing, but there may be more */
	WALK_ITEM, /**< an object */
	WALK_HELD, /**< an object, and the lock must be kept until the next step */
};

#endif
