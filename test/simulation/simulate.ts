import { SimulatedCluster } from './cluster/simulated-cluster.js';
import { enter } from './world/current.js';
import { ProxyProcess } from './world/proxy-process.js';
import { World } from './world/world.js';
import * as process from 'node:process';

export async function simulate(argv: readonly string[]): Promise<number> {
  const seed = Number(argv[0] ?? 1);
  const world = new World({ seed, mode: 'nftables', families: ['IPv4', 'IPv6'], nodeName: 'node-1', kernel: '6.18.0', iptables: 'nft', source: 'api' });
  enter(world);
  const cluster = new SimulatedCluster(world);
  await cluster.open();
  const proxy = ProxyProcess.start(world, ['--kubeconfig', '/etc/kubeproxy/kubeconfig', '--proxy-mode', 'nftables', '--hostname-override', 'node-1', '--cluster-cidr', '10.244.0.0/16']);
  await world.scheduler.runUntil(world.now + 5000);
  for (const line of proxy.logger.lines) process.stdout.write(`${line.level} ${line.message} ${JSON.stringify(line.facts)}\n`);
  process.stdout.write(`${proxy.exitCode} ${String((proxy.failure as Error)?.stack ?? '')} turns ${world.scheduler.turns}\n`);
  return 0;
}
