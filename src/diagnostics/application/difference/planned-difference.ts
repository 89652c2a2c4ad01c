import { ForwardingTable } from '../../../domain/forwarding/forwarding-table.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import type { Backend, StartOptions } from '../../../application/ports/backend.js';
import type { FamilyContext } from '../../../application/use-cases/sync.js';
import { familyDifference, type FamilyDifference } from './difference-report.js';

/**
 * What a first sync of one family would change for the known objects. Changes nothing.
 * @param backend which is used for nothing else
 * @throws when the kernel cannot be read
 */
export async function plannedDifference(
  state: ClusterState,
  { forwarding, network }: FamilyContext,
  backend: Backend,
  options: StartOptions,
): Promise<FamilyDifference> {
  const { family } = backend;
  const entries = ForwardingTable.of(state, forwarding).entries();
  const lines = await backend.plannedDifferences?.(entries, network, options);
  return familyDifference(family, lines);
}
