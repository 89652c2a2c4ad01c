/** The tests of the drivers, all in one guest. */
import './requirements.js';
import './addresses.js';
import './ip-sets.js';
import './iptables-variant.js';
import './iptables-matches.js';
import './nftables-missing.js';
import './virtual-servers.js';
