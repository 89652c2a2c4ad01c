import { Nfacct } from '../src/adapters/iptables/iptables-host.js';

/*
 * `node make-counters.js NAME …` makes nfacct counters in its network namespace. The proxy does so before it writes
 * rules that name them, so iptables-restore by itself needs them as well.
 */
const counters = Nfacct.open();
for (const name of process.argv.slice(2)) await counters.ensure(name);
counters.close();
