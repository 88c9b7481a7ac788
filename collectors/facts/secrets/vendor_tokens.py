"""Tokens that have a shape of their own, whatever stands around them: RE2 expressions, grouped by their source."""

TOKENS = (
    # AWS, reference_identifiers.html#identifiers-unique-ids, and session tokens of STS
    r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}:([A-Za-z0-9+/]{20,}=?)",
    r"\b(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{12,}\b",
    r"\b(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[\w+/%-]{12,}={0,2}",
    # Google: api-keys, OAuth clients and access tokens, HMAC keys of Cloud Storage
    r"\bAIza[\w-]{20,}",
    r"\bya29\.[\w-]{16,}",
    r"\bGOCSPX-[\w-]{16,}",
    r"\b1//0[\w-]{20,}",
    r"\bGOOG1E[A-Z0-9]{20,}",
    # Microsoft Entra client secrets
    r"\b[A-Za-z0-9]{3}8Q~[\w.~-]{20,}",
    # Alibaba Cloud (LTAI), Tencent Cloud (AKID), Volcengine (AKLT)
    r"\bLTAI[A-Za-z0-9]{12,}:([A-Za-z0-9+/]{20,}=?)",
    r"\bLTAI[A-Za-z0-9]{12,}\b",
    r"\bAKID[A-Za-z0-9]{13,}\b",
    r"\bAKLT[\w-]{16,}",
    # GitHub, GitLab (security/tokens), Atlassian, Bitbucket
    r"\bgh[oprsu]_[A-Za-z0-9]{12,}",
    r"\bgithub_pat_\w{12,}",
    r"\bgl(?:agent|cbt|dt|ft|imt|oas|pat|ptt|rt|rtr|soat)-[\w-]{12,}",
    r"\bGR1348941[\w-]{12,}",
    r"\bATBB[A-Za-z0-9]{16,}",
    r"\bATATT3[\w=-]{20,}",
    # Slack (authentication/tokens), DingTalk, Feishu, Telegram
    r"\bxox[a-z](?:\.xox[a-z])?-[A-Za-z0-9+/=-]{8,}",
    r"\bxapp-[A-Za-z0-9-]{8,}",
    r"\bSEC[0-9a-f]{64}\b",
    r"(?:\b|bot)(\d{8,10}:AA[\w-]{30,})",
    # models and experiments: Hugging Face, NVIDIA NGC, Replicate, Groq, Databricks, LangSmith, Pinecone
    r"\bhf_[A-Za-z0-9]{16,}",
    r"\bnvapi-[\w-]{16,}",
    r"\br8_[A-Za-z0-9]{20,}",
    r"\bgsk_[A-Za-z0-9]{20,}",
    r"\bdapi[0-9a-f]{32}(?:-\d)?\b",
    r"\blsv2_(?:pt|sk)_\w{20,}",
    r"\bpcsk_\w{20,}",
    # HashiCorp: Vault (tokens), Terraform; 1Password, Doppler, Pulumi, age
    r"\bhv[bsr]\.[\w-]{16,}",
    r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w-]{30,}",
    r"\bops_eyJ[\w-]{20,}",
    r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{20,}",
    r"\bpul-[0-9a-f]{40}\b",
    r"\bAGE-SECRET-KEY-1[A-Z0-9]{20,}",
    # registries: npm, PyPI, Docker Hub, Artifactory, Anaconda
    r"\bnpm_[A-Za-z0-9]{20,}",
    r"\bpypi-AgE[\w-]{20,}",
    r"\bdckr_(?:pat|oat)_[\w-]{16,}",
    r"\bAKCp[A-Za-z0-9]{40,}",
    r"\btoken ([a-z]{2}-[0-9a-f]{8}-[0-9a-f-]{27})\b",
    # services: Stripe, Twilio, Mailgun, Mailchimp, New Relic, DigitalOcean, Linear, Shopify, Tailscale, Sentry,
    # Grafana, SonarQube, Figma, Postman, k3s
    r"\b(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,}",
    r"\bSK[0-9a-f]{32}\b",
    r"\bkey-[0-9a-f]{32}\b",
    r"\b[0-9a-f]{32}-us\d{1,2}\b",
    r"\bNRAK-[A-Z0-9]{20,}|\b[0-9a-f]{36}NRAL\b",
    r"\bdo[opr]_v1_[0-9a-f]{32,}",
    r"\blin_api_[A-Za-z0-9]{20,}",
    r"\bshp(?:at|ca|pa|ss)_[0-9a-f]{20,}",
    r"\btskey-[A-Za-z]+-[A-Za-z0-9-]{16,}",
    r"\bsntry[su]_[\w+/=]{20,}",
    r"\bgl(?:sa|c)_\w{20,}",
    r"\bsq[apu]_[0-9a-f]{40}\b",
    r"\bfigd_[\w-]{20,}",
    r"\bPMAK-[0-9a-f-]{40,}",
    r"\bK10[0-9a-f]{64}::\w+:[0-9a-f]{32}",
    # RFC 7519 and other JSON in base64, such as docker's; keys of cephx; Fernet; keytabs; crypt(5); kubeadm's tokens
    r"\beyJ[\w+/-]{16,}={0,2}(?:\.[\w-]*)*",
    r"\beyJ[\w-]{4,}(?:\.[\w-]+){1,4}",
    r"\bAQ[A-Za-z0-9+/]{30,38}={0,2}",
    r"\bgAAAAAB[\w-]{40,}={0,2}",
    r"\bBQIAAA[\w+/]{20,}={0,2}",
    r"\$(?:1|2[aby]?|5|6|y|apr1)\$[^\s:'\"]{20,}",
    r"\bLS0tLS1CRUdJTiB[EFPQS][\w+/]{8,}={0,2}",
)

# Those that a word may begin like, so that they are tokens only with digits among their letters: OpenAI and Anthropic,
# Feishu, Vault before 1.10, SendGrid, kubeadm
MIXED_TOKENS = (
    r"\bt-[A-Za-z0-9]{32}\b",
    r"\bsk-(?:[a-z]+[0-9]*-){0,2}[\w-]{16,}",
    r"\bs\.[A-Za-z0-9]{24}\b",
    r"\bSG\.[\w-]{16,}\.[\w-]{16,}",
    r"(?:^|[^\w.])([a-z0-9]{6}\.[a-z0-9]{16})(?:$|[^\w.]|\.(?:\s|$))",
)
