/** The tests of the drivers, all in one guest. */
import './addresses.js';
import './virtual-servers.js';
