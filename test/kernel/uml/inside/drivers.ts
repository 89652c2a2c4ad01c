/** The tests of the drivers, all in one guest. */
import './addresses.js';
import './ip-sets.js';
import './virtual-servers.js';
