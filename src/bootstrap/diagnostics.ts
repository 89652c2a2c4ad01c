/** The one place where the program loads its diagnostics: for a command, or for the first request for a debug route. */
export const loadDiagnostics = () => import('../diagnostics/bootstrap/diagnostics.js');
