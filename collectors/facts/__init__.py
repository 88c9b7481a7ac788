"""Types that every layer shares. Imports only the standard library, RE2 and itself."""
