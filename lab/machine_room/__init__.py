"""The machine room: the lab's simulated servers, their BMCs, firmware, disks and deploy agents, in one process.

Threads, not asyncio: sushy-tools is a WSGI application, hashing, disk writes and qemu-img release the interpreter
lock or wait for a child, and a waiting agent costs a small stack. A hundred agents are a hundred sleeping threads.
"""
