import type { ProxyStatus } from '../../../application/status/proxy-status.js';
import { STATUS } from './asking/routes.js';
import { useConnection } from './asking/use-connection.js';
import { useFollowed } from './asking/use-followed.js';

/** The name of the node, undefined before it is known. It is asked for once in each connection: behind the next may be another node. */
export function useNode(): string | undefined {
  const { since } = useConnection();
  const { value } = useFollowed<ProxyStatus>(STATUS, {
    period: Infinity,
    when: `${since}`,
  });
  return value?.node;
}
