/** The tests of the drivers, all in one guest. */
import './virtual-servers.js';
