unit=nvidia-fabricmanager.service
