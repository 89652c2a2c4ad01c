import type { Service } from '../../domain/model/service.js';
import type { ApplyResult, Backend } from '../ports/backend.js';

/** Whether the backend, started, may keep rules of the Service that no entry explains. */
export function mayKeepRulesOf(backend: Backend, { namespace, name, ports }: Service): boolean {
  if (!backend.mayKeep) return true;
  return ports.some(({ name: port, protocol }) => backend.mayKeep!({ namespace, name, port, protocol }));
}

/** The outcome of a start, and of programming afterwards what turned out not to be held back. */
export function together(start: ApplyResult, rest: ApplyResult): ApplyResult {
  return {
    ...start,
    written: start.written + rest.written,
    failed: [...start.failed, ...rest.failed],
    conflicts: [...start.conflicts, ...rest.conflicts],
    notes: [...(start.notes ?? []), ...(rest.notes ?? [])],
  };
}
