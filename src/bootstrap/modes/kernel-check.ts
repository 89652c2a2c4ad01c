import { release } from 'node:os';
import { kernelSuits } from '../../adapters/nftables/kernel-support.js';

/** Switches the check off when set to anything (docs/spec/nftables.md §1.1). */
const SKIP = 'KUBE_PROXY_NFTABLES_SKIP_KERNEL_VERSION_CHECK';

/** Throws when this kernel is too old for nftables mode. */
export function checkKernel(kernel = release(), environment: NodeJS.ProcessEnv = process.env): void {
  if (kernelSuits(kernel) || environment[SKIP]) return;
  throw new Error(
    `kube-proxy in nftables mode requires kernel 5.13 or later; this is ${kernel}. Set ${SKIP}=1 to try`,
  );
}
