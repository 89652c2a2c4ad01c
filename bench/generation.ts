import { NetlinkNftTransport } from '../src/adapters/nftables/netlink/netlink-transport.js';

/* `node generation.js` prints the number of the last nf_tables transaction in its network namespace that changed something. */
const transport = NetlinkNftTransport.open();
console.log(await transport.generation());
await transport.close();
