import { SYNC } from './routes.js';
import { useFollowed } from './use-followed.js';

/** A text that differs when anything in the cluster, or how far it is programmed, has changed; null while unknown. */
export function useChanges(): string | null {
  const { value } = useFollowed<{ readonly idle: boolean; readonly appliedEvents: number }>(SYNC);
  return value ? `${value.appliedEvents} ${value.idle}` : null;
}
