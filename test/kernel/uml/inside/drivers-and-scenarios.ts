/** The tests of the drivers and the recorded scenarios, all in one guest. The first ones see a kernel that has loaded nothing yet. */
import './requirements.js';
import './addresses.js';
import './ip-sets.js';
import './iptables-variant.js';
import './iptables-matches.js';
import './compared-kernel.js';
import './nftables-missing.js';
import './virtual-servers.js';
import './take-over.js';
import './conformance.js';
