import { Node } from './node.mjs';
import { Recording } from './recording.mjs';

/** `kubeproxy explain` and `trace`: names do not resolve, and why; then a Service with which all is well. */
export async function explain() {
  const recording = new Recording('kubeproxy explain, kubeproxy trace');
  await Node.with(async (node) => {
    await node.serve('--config', 'node.yaml', '--manifests', 'cluster');
    for (const command of [
      'services --problems',
      'explain kube-system/dns',
      'trace --from 10.244.1.5 --to 10.96.0.10:53/udp',
      'explain shop/cart',
      'trace --from 10.244.1.5 --to shop/cart:http',
    ])
      recording.command(`kubeproxy ${command}`, `${node.run(command.split(' ')).output}\n`);
  });
  return recording;
}

/** `kubeproxy compare`: what would another mode do otherwise, and is that all that is expected? */
export async function compare() {
  const recording = new Recording('kubeproxy compare');
  await Node.with((node) => {
    const plans = 'compare --config node.yaml --manifests cluster --plan iptables --plan nftables';
    for (const command of [
      plans,
      `${plans} --expect other-ports,unallocated-cluster-ips,hairpin-elsewhere`,
    ]) {
      const { output, status } = node.run(command.split(' '));
      recording.command(`kubeproxy ${command}`, output);
      recording.command('echo $?', `${status}\n\n`);
    }
  });
  return recording;
}
