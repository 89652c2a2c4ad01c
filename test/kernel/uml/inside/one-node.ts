/** The tests of the program on one node, all in one guest. */
import './connections.js';
import './node.js';
