import type { ProxyStatus } from '../../../application/status/proxy-status.js';
import { STATUS } from './asking/routes.js';
import { useConnection } from './asking/use-connection.js';
import { useFollowed, type Followed } from './asking/use-followed.js';

const SECOND = 1_000;

/**
 * How the proxy is, for all of the page: one question serves the head and the view.
 * @param isFollowed whether it is asked for each second; otherwise once in each connection, as behind the next may be another node
 */
export function useStatus(isFollowed: boolean): Followed<ProxyStatus> {
  const { since } = useConnection();
  return useFollowed<ProxyStatus>(STATUS, { period: isFollowed ? SECOND : Infinity, when: `${since}` });
}
