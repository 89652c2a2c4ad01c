import { useEffect, useState } from 'preact/hooks';
import { connection, type ConnectionState } from './connection.js';

/** Whether the proxy answers, now and after each change of that. */
export function useConnection(): ConnectionState {
  const [state, setState] = useState(connection.current);
  useEffect(() => connection.follow(setState), []);
  return state;
}
